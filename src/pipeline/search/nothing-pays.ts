/** When a search for speed ends with the model as it is, and what is told of it then. */
import { type Model, nodesWithin, opsetOf } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import { LEAST_OPSET } from "../../quantization/recipe.js";
import type { Rewrite } from "../../rewrite/index.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { unusableOf } from "../calibrate/unusable-statistics.js";
import { type Candidate, mostSpeedup } from "../candidates/candidate.js";
import { candidateFacts, integerChoices } from "../candidates/candidate-facts.js";
import { isFinishedOtherwise } from "../candidates/finishing.js";
import type { OptimizeConfig } from "../config.js";
import type { Intake } from "../intake.js";
import type { Prepared } from "../prepare/prepare.js";
import type { UnquantizedFacts } from "../result.js";
import { judgeUnchanged, leastGain } from "../verdict/verdict.js";
import { missedRuntimeSpecific } from "./quantization-facts.js";

/** Whether it is another model than the one that was given, or will be when a candidate is made of it, which ends with `finishing`. */
export const isRewritten = (
  { passes, path }: Pick<Prepared, "passes" | "path">,
  finishing: readonly Rewrite[],
): boolean => passes.some(({ applied }) => applied > 0) || isFinishedOtherwise(path, finishing);

/**
 * Whether the prepared float model is worth a race: it is another than the one that was given, or limits in milliseconds are to
 * be judged of it. A newer opset alone makes no model faster.
 *
 * @param finishing what it is rewritten by when a candidate is made of it
 */
export const isFloatRaced = (
  prepared: Pick<Prepared, "passes" | "path">,
  { graph, baseline, limits }: Pick<OptimizeConfig, "graph" | "baseline" | "limits">,
  finishing: readonly Rewrite[],
): boolean =>
  limits.slo.length > 0 ||
  baseline !== undefined ||
  graph.shapes.size > 0 ||
  graph.opset !== undefined ||
  isRewritten(prepared, finishing);

/** A profile on a busy machine is off by up to so much; a table is not. */
const PROFILE_DOUBT = 0.2;

/**
 * Why the model stays as it is, in words; null where a candidate is worth a race: one that is estimated to gain nothing is not.
 *
 * @param candidates without the float model
 * @param whyNone where there are none
 */
export function whyNothingPays(
  candidates: readonly Candidate[],
  { passes }: Pick<Prepared, "passes">,
  goal: "speed" | "size",
  whyNone: string,
): string | null {
  const isUndone = passes.some(({ rejected }) => rejected !== undefined);
  const rewrites = isUndone ? "every rewrite that applies was undone" : "no rewrite applies";
  if (candidates.length === 0) return `${rewrites}; ${whyNone}`;
  const speedOf = (candidate: Candidate): number => mostSpeedup(candidate) ?? Number.POSITIVE_INFINITY;
  const mayGain = (candidate: Candidate): boolean =>
    speedOf(candidate) >= leastGain * (candidate.times ? 1 - PROFILE_DOUBT : 1);
  if (goal === "size" || candidates.some(mayGain)) return null;
  const fastest = candidates.reduce((a, b) => (speedOf(b) > speedOf(a) ? b : a));
  const estimate = `${speedOf(fastest).toFixed(2)}x of its speed, and a gain takes ${leastGain.toFixed(2)}x`;
  return `${rewrites}; the fastest candidate, ${fastest.name}, is estimated at ${estimate}`;
}

/** What was found out on the way. */
export interface Found {
  readonly prepared: Prepared;
  readonly target: IntegerTarget;
  readonly excluded: ReadonlyMap<string, string>;
  readonly tried: readonly Candidate[];
  readonly unquantized: UnquantizedFacts;
}

/** It is told all the same; nothing is timed that is what it was. */
export function unchangedResult(
  why: string,
  { facts, original }: Intake,
  { prepared, target, excluded, tried, unquantized }: Found,
  { limits, quantize: { goal, mode } }: OptimizeConfig,
) {
  const { model, passes, unfused } = prepared;
  return {
    ...{ model: facts, passes, unfused, quantization: null, unquantized },
    ...(goal === "speed" && { shrinkableBytes: shrinkableBytes(original) }),
    candidates: candidateFacts(tried, null, () => integerChoices(model, target)),
    ...missedRuntimeSpecific(model, { target, mode, excluded }),
    verdict: judgeUnchanged(limits, facts.bytes, why),
  };
}

/** Smaller ones are not worth a conversion of their own. */
const SMALLEST_WEIGHT = 1024;

/** Of float32 weights: half precision and integers take fewer. */
export function shrinkableBytes({ graph }: Model): number {
  const weights = new Set(
    [...nodesWithin(graph)].flatMap(({ inputs }) => inputs.flatMap((value) => value?.constant ?? [])),
  );
  return [...weights]
    .filter(({ dtype, elementCount }) => dtype === "f32" && elementCount >= SMALLEST_WEIGHT)
    .reduce((sum, { elementCount }) => sum + 4 * elementCount, 0);
}

/** Of a model that no node of became integers. */
export function whyNoneFits(
  model: Model,
  taps: ReadonlyMap<string, TapStatistics> | null,
  config: Pick<OptimizeConfig, "quantize" | "data">,
): string {
  const opset = opsetOf(model);
  if (opset < LEAST_OPSET.static)
    return `the model's opset stays at ${opset}, and its integer operators came with ${LEAST_OPSET.static}`;
  const why = inBlocksOf(model) ?? unusableOf(taps, config);
  return `no node of the model can be quantized${why === null ? "" : `: ${why}`}`;
}

/** Of a file that a session saved with everything optimized: its weights lie as the kernels of one processor want them. */
function inBlocksOf(model: Model): string | null {
  const count = [...nodesWithin(model.graph)].filter(({ domain }) => domain === "com.microsoft.nchwc").length;
  const what = "as ONNX Runtime lays nodes out for one processor: quantize the model that the file was saved from";
  return count === 0 ? null : `${count} are of com.microsoft.nchwc, ${what}`;
}
