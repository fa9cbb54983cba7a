/**
 * What `quantize` answers with where integers gain nothing: the model in float as it was made ready for them, if that alone is faster.
 *
 * A quantizer that keeps the graph is measured beside the file as published, and so is this: who is content with the speed of a bad
 * integer model finds it here without the error.
 */
import type { Rewrite } from "../../rewrite/index.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { type Candidate, estimateOf } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import type { OptimizeConfig } from "../config.js";
import type { Prepared } from "../prepare/prepare.js";
import type { RunRecord } from "../run-record.js";
import { leastGain } from "../verdict/verdict.js";
import type { Judge, Judged } from "./judge-candidate.js";
import { isRewritten } from "./nothing-pays.js";

/** Beyond what any gain takes at the lower end of its interval: a file that is no smaller has to be worth it by its speed. */
const LEAST_FLOAT_GAIN = 1.1;
/** Of a race, to profile it beside the model that was given. */
const PROFILED_SHARE = 0.25;
const TOO_LITTLE = `without integers a gain takes ${LEAST_FLOAT_GAIN}x: the file is no smaller`;

/** Whether rewrites without integers are an answer at all: to whoever asked for integers of one kind they are none. */
export const admitsFloat = (
  { quantize: { mode, bits, goal, selection } }: Pick<OptimizeConfig, "quantize">,
  { isMeasurable }: Pick<IntegerTarget, "isMeasurable">,
  prepared: Pick<Prepared, "passes" | "path">,
  finishing: readonly Rewrite[],
): boolean =>
  mode === "auto" &&
  bits === 8 &&
  goal === "speed" &&
  selection.include.length === 0 &&
  isMeasurable &&
  isRewritten(prepared, finishing);

const ofAccuracy: ReadonlySet<string> = new Set(["sense", "saturation", "max-drop"]);

/**
 * Whether float may be ahead of the best of the integers: where nothing but speed is missed or not certain (what is inaccurate is for
 * a search to say), or by estimates of both they gain too little beside it, however much faster than the original they are: for
 * nothing nobody wants their errors.
 */
export const mayBeBehindFloat = (
  { candidate, ruling: { verdict } }: Judged,
  { estimatesBeside }: Workshop,
): boolean => {
  if (verdict.reasons.some(({ limit, status }) => ofAccuracy.has(limit) && status !== "met")) return false;
  const estimate = estimateOf(candidate);
  return verdict.outcome !== "met" || (estimatesBeside === "rewritten" && estimate !== null && estimate < leastGain);
};

export interface FloatInstead {
  readonly candidate: Candidate;
  /** Null where it does not look fast enough; without times where it misses a limit on accuracy or size. */
  readonly judged: Judged | null;
  /** Whether it meets every limit and gains enough. */
  readonly isAnswer: boolean;
}

/** @param tried what was estimated before beside the rewritten model, and is told beside the original from now on */
export async function floatInstead(
  judge: Judge,
  workshop: Workshop,
  record: RunRecord,
  { runtime: { benchMs } }: Pick<OptimizeConfig, "runtime">,
  tried: readonly Candidate[],
): Promise<FloatInstead> {
  const candidate = workshop.make({ kind: "fused" });
  const isFaster = await looksFaster(candidate, workshop, record, benchMs);
  workshop.reckonBesideOriginal(tried);
  const judged = isFaster ? await judgedBy(judge, candidate) : null;
  const verdict = judged?.ruling.verdict ?? null;
  const isAnswer = verdict?.outcome === "met" && candidate.speedup! >= LEAST_FLOAT_GAIN;
  if (!isAnswer) candidate.note ||= verdict === null || verdict.outcome === "met" ? TOO_LITTLE : verdict.summary;
  return { candidate, judged, isAnswer };
}

const judgedBy = async (judge: Judge, candidate: Candidate): Promise<Judged> =>
  (await judge.isAccurate(candidate))
    ? judge.race(candidate)
    : { candidate, latency: null, ruling: judge.rule(candidate, null) };

/** Whether it misses a limit that was declared: where there are no integers, that it gains nothing for certain is nothing to do. */
export const missesLimit = (float: FloatInstead | null): boolean => {
  const outcome = float?.judged?.ruling.verdict.outcome;
  return outcome === "accuracy" || outcome === "latency";
};

/** Why it is the answer in place of integers; null where these are. */
export function whyInFloat({ candidate, isAnswer }: FloatInstead, integers: Judged): string | null {
  const { outcome, summary } = integers.ruling.verdict;
  const { speedup } = integers.candidate;
  if (!isAnswer) return null;
  if (outcome !== "met") return summary;
  return speedup !== null && speedup < leastGain * candidate.speedup!
    ? `${speedup.toFixed(2)}x as fast with them`
    : null;
}

async function looksFaster(
  candidate: Candidate,
  workshop: Workshop,
  record: RunRecord,
  benchMs: number,
): Promise<boolean> {
  await record.stage("verify", () => workshop.measureError([candidate]), candidate.name);
  // The runtime refuses it.
  if (candidate.sqnrDb === Number.NEGATIVE_INFINITY && candidate.note !== "") return false;
  await record.stage("bench", () => workshop.measureSpeed([candidate], benchMs * PROFILED_SHARE), candidate.name);
  // What is too small to be profiled is as fast as chance has it.
  return candidate.times != null && candidate.speedup! >= LEAST_FLOAT_GAIN;
}
