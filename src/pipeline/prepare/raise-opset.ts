/**
 * Raising the opset: to what the user asked for, or else where it helps, as far as the
 * target and the runtime here go. The second may fail: an operator that cannot follow is a
 * reason to leave the opset, not an error.
 */
import { InferOptError } from "../../base/errors.js";
import { type Model, nodesWithin, opsetOf } from "../../ir/index.js";
import { dtypesOf } from "../../ops/dtypes.js";
import { convertOpset } from "../../passes/opset/convert-opset.js";
import { type Refusal, unconvertible, unsupportedOpset } from "../../passes/opset/errors.js";
import { dropPartMetadata, irVersionOfOpset, leastIrVersion } from "../../passes/opset/ir-version.js";
import { hostTarget, requireTarget } from "../../target/find-target.js";
import { callsOperator, rejection, type Target } from "../../target/target.js";
import type { GraphConfig } from "../config.js";

/** Gelu (20), GroupNormalization (21) and RMSNormalization (23) have CPU kernels in ONNX Runtime 1.30. */
const NEWEST_FOR_RUNTIME = 23;

/**
 * Older opsets are raised to this one before anything else: LayerNormalization came with 17, HardSwish with
 * 14, per-channel DequantizeLinear with 13; every runtime since 2022 knows it.
 */
const PREPARED_OPSET = 17;

/** Throws TARGET_UNKNOWN; null when none was named. */
export const targetOf = ({ target }: GraphConfig): Target | null =>
  target === undefined ? null : requireTarget(target);

/**
 * The newest opset that a model may be raised to without being asked. One that is raised is
 * verified by the runtime here, so its limit counts for every target.
 */
export const highestOpset = (graph: GraphConfig): number =>
  Math.min(graph.maxOpset ?? NEWEST_FOR_RUNTIME, targetOf(graph)?.newestOpset ?? NEWEST_FOR_RUNTIME);

/** The opset that a model is raised to before the passes run. */
export const preparedOpset = (graph: GraphConfig): number => Math.min(PREPARED_OPSET, highestOpset(graph));

/** Why rewrites get no newer opset than the model's, in the words of the flags. */
export function whyKept({ opset, keepOpset }: GraphConfig): string {
  if (opset !== undefined) return `--opset ${opset} was given`;
  return keepOpset ? "--keep-opset was given" : "the opset stays as it is";
}

/** Raises the opset in place; answers why it stays, null when it is raised. */
export function raiseOpset(model: Model, version: number, target: Target | null = null): string | null {
  try {
    convert(model, version, target);
    return null;
  } catch (thrown) {
    const stays = ["OPSET_UNCONVERTIBLE", "OPSET_UNSUPPORTED"];
    if (thrown instanceof InferOptError && stays.includes(thrown.code)) return thrown.message;
    throw thrown;
  }
}

/** The same, up to a newest opset, for models that state one. */
export const opsetRaiser =
  (newest = NEWEST_FOR_RUNTIME, target: Target | null = null) =>
  (model: Model, version: number): string | null => {
    if (version > newest) return `the target knows opsets up to ${newest}`;
    if (!model.opsets.has("")) return "the model states no opset of ai.onnx";
    return opsetOf(model) < version ? raiseOpset(model, version, target) : null;
  };

/**
 * Brings the model to the opset that was asked for; does nothing when none was. Throws
 * OPSET_UNSUPPORTED when the model is beyond it, OPSET_UNCONVERTIBLE when a node cannot follow.
 */
export function applyAskedOpset(model: Model, graph: GraphConfig): void {
  const { opset: asked } = graph;
  if (asked === undefined) return;
  if (!model.opsets.has("")) {
    throw unsupportedOpset("the model states no opset of ai.onnx", asked, "Leave out --opset.");
  }
  const from = opsetOf(model);
  if (from > asked) {
    throw unsupportedOpset(
      `the model is of opset ${from}, beyond ${asked}; models are only converted upwards`,
      asked,
      `Export the model again at opset ${asked}, or ask for opset ${from} or more.`,
    );
  }
  convert(model, asked, targetOf(graph));
}

/**
 * Where the opset or the target was said, an old runtime may be meant: the model states no
 * newer IR version than it needs. Answers what was left out for that, or null.
 */
export function settleIrVersion(model: Model, graph: GraphConfig): string | null {
  const target = targetOf(graph);
  if (graph.opset === undefined && !target) return null;
  model.irVersion = leastIrVersion(model);
  const newest = target?.newestIrVersion ?? Number.POSITIVE_INFINITY;
  if (model.irVersion <= newest || irVersionOfOpset(opsetOf(model)) > newest) return null;
  dropPartMetadata(model);
  const before = model.irVersion;
  model.irVersion = leastIrVersion(model);
  return model.irVersion < before
    ? `notes of the exporter at nodes and values were left out: ${target!.title} reads IR versions up to ${newest}`
    : null;
}

/** Converts, unless the runtime here or the target takes a node at the old version and not at the new one. */
function convert(model: Model, version: number, target: Target | null): void {
  const from = opsetOf(model);
  // Some kernels are there for some types alone, and nobody has asked the runtime for types yet.
  for (const [value, dtype] of dtypesOf(model)) if (!value.dtype) value.type = { dtype, shape: value.shape };
  const refusals = [...nodesWithin(model.graph)].flatMap((node): Refusal[] => {
    if (!callsOperator(model, node)) return [];
    const loser = [hostTarget, ...(target ? [target] : [])].find(
      (each) => !rejection(each, node, from) && rejection(each, node, version),
    );
    if (!loser) return [];
    const reason = `${loser.title}: ${rejection(loser, node, version)}`;
    return [{ node: node.displayName, op: node.op, at: version, reason }];
  });
  if (refusals.length > 0) throw unconvertible(refusals, from, version);
  convertOpset(model, version);
}

/** For people, where a model has a newer opset than it was given with: an older runtime may not open it. */
export const raisedNotes = (from: number, model: Model): readonly string[] =>
  opsetOf(model) > from ? [`opset ${from} raised to ${opsetOf(model)}`] : [];
