/** `inspect --target`: what of a model is not taken where it is to run. */
import { loadModel } from "../../ir/index.js";
import { quantizedFormOf } from "../../ops/quantizing.js";
import { annotateTypes } from "../../rewrite/index.js";
import { requireTarget } from "../../target/find-target.js";
import type { Weight } from "../../target/target.js";
import { type Violation, violationsOf } from "../../target/violations.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { describer } from "../model-runs.js";
import type { Finding } from "./inspect-findings.js";

export interface InspectedTarget {
  readonly name: string;
  readonly title: string;
  readonly opsets: { readonly oldest: number; readonly newest: number };
  readonly newestIrVersion: number | null;
  /** Where the limits come from. */
  readonly sources: readonly string[];
  /** In the order of the graph, the model as a whole first. */
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<Weight, number>>;
}

/**
 * @param context null: without the runtime, so types are those that the file states
 * Throws TARGET_UNKNOWN, and what loading throws.
 */
export async function inspectTarget(
  path: string,
  name: string,
  config: RuntimeConfig,
  context: RunContext | null,
): Promise<InspectedTarget> {
  const target = requireTarget(name);
  const model = loadModel(path);
  // Where the runtime cannot tell the types, those that the file states have to do.
  if (context) await annotateTypes(model, describer(config, context));
  const violations = violationsOf(model, target);
  const countOf = (weight: Weight): number => violations.filter((violation) => violation.weight === weight).length;
  return {
    name,
    title: target.title,
    opsets: { oldest: target.oldestOpset, newest: target.newestOpset },
    newestIrVersion: target.newestIrVersion,
    sources: target.sources,
    violations,
    counts: { refused: countOf("refused"), elsewhere: countOf("elsewhere"), caution: countOf("caution") },
  };
}

const isOfIntegers = ({ op }: Violation): boolean => op !== null && quantizedFormOf(op) !== null;

/**
 * One finding for all that `fuse` may do something about; null when there is nothing but cautions.
 *
 * @param opset of the model
 */
export function targetFinding(
  { name, title, opsets: { newest }, violations, counts }: InspectedTarget,
  path: string,
  opset: number,
): Finding | null {
  if (counts.refused + counts.elsewhere === 0) return null;
  const here = violations.filter(({ weight }) => weight !== "caution");
  const parts = [
    counts.refused > 0 ? `${counts.refused === 1 ? "1 stands" : `${counts.refused} stand`} in the way` : "",
    counts.elsewhere > 0 ? `${counts.elsewhere === 1 ? "1 node runs" : `${counts.elsewhere} nodes run`} elsewhere` : "",
    counts.caution > 0 ? `${counts.caution} to keep in mind` : "",
  ];
  // No rewriting lowers an opset, or takes integers out again.
  const fusible = (): string => {
    if (opset > newest) return `MODEL_OF_OPSET_${newest}`;
    return here.every(isOfIntegers) ? "FLOAT_MODEL" : path;
  };
  return {
    code: "TARGET_VIOLATIONS",
    severity: "advice",
    text: `${title}: ${parts.filter((part) => part !== "").join(", ")}`,
    command: `infer-opt fuse ${fusible()} --target ${name} -o fused.onnx`,
    nodes: here.flatMap(({ node }) => node ?? []).slice(0, 5),
  };
}
