/**
 * What a place where models run is known to take: opsets, IR versions, operators and the
 * forms of them. Facts come from the documents that each target names, or from loading
 * models with it; what nobody says is not objected to.
 */
import type { Model, Node } from "../ir/index.js";

/**
 * - `refused`: the model does not load
 * - `elsewhere`: the node runs on the CPU instead, with copies to it and back
 * - `caution`: it runs, but not quite as it reads
 */
export type Weight = "refused" | "elsewhere" | "caution";

export interface Objection {
  readonly weight: Weight;
  readonly reason: string;
  /** What to do about it. */
  readonly advice: string;
}

export interface Target {
  /** As it is asked for: `tensorrt`, `ort-cpu@1.17`. */
  readonly name: string;
  readonly title: string;
  readonly oldestOpset: number;
  readonly newestOpset: number;
  /** Newest IR version that it reads; null where no document says. */
  readonly newestIrVersion: number | null;
  readonly sources: readonly string[];
  /** What its documents say that it makes of zeros in weights, and of which pattern of them; absent where they say nothing. */
  readonly zeros?: { readonly pattern?: string; readonly says: string; readonly source: string };
  /** The first objection to running this node in a model of this opset; null when there is none, or too little is known. */
  readonly objectionTo: (node: Node, opset: number) => Objection | null;
  /** Objections to inputs of the model whose sizes are open; null where any size goes. */
  readonly openSizes: Objection | null;
}

/** Whether it is ONNX Runtime's CPU provider, of any release and processor. */
export const isOrtCpu = ({ name }: Target): boolean => name.startsWith("ort-cpu");

/** Whether a node calls an operator that a runtime brings, not a function of the model. */
export const callsOperator = (model: Model, { domain, op }: Node): boolean => !model.functions.has(`${domain}::${op}`);

/** Why a target does not run a node where or as it should, or null. */
export function rejection(target: Target, node: Node, opset: number): string | null {
  const objection = target.objectionTo(node, opset);
  return objection && objection.weight !== "caution" ? objection.reason : null;
}
