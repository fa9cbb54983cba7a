/**
 * What is done against the errors of integers that costs nothing when the model runs. Each
 * correction is fitted on some samples and kept only when others, which it has not seen, and two of the
 * largest answers say that the outputs come closer to the float model's, or where these are few numbers what the last products read.
 * Of what changes the last products of few answers, the samples of its own fit decide, each left out of it in turn.
 */
import type { DatasetRef } from "../../dataset/index.js";
import type { Candidate } from "../candidates/candidate.js";
import { bestMeasure, byAnswers, gainDb, type MeasuredSqnr, noiseOf } from "../candidates/output-noise.js";
import type { Workshop } from "../candidates/workshop.js";
import type { Intake } from "../intake.js";
import { samplesWithin } from "../sample-counts.js";
import type { CorrectionFacts } from "./correction-facts.js";

export const corrections = ["join", "equalize", "means", "outputs", "rounding"] as const;
export type Correction = (typeof corrections)[number];

/** Samples that a correction is fitted on: more make it surer, and take longer. So many in any case, ... */
const MOST_FITTED = 16;
/**
 * ... and up to twice as many where running them takes no more than this, estimated by the elements of all activations. A line
 * for the outputs is fitted to what most samples are like: of 16 and 8 that judge, none was of the sixth of a data set whose
 * answers are large, and a factor of 0.8 took 2 dB from those.
 */
const FITTING_MS = 400;
/** Fewer say too little of a whole data set. */
const LEAST_FITTED = 4;

/** Calibration samples that are not among the trial's, spread over the set; null when they are too few. */
export function samplesToFit(
  { fit, trial }: Pick<Intake, "trial"> & { readonly fit: Pick<NonNullable<Intake["fit"]>, "ref" | "count"> | null },
  most = MOST_FITTED,
): DatasetRef | null {
  if (!fit || fit.ref.random || trial.path !== fit.ref.path) return null;
  const kept = new Set(trial.indices);
  const all = fit.ref.indices ?? Array.from({ length: fit.count }, (_, i) => i);
  const free = all.filter((index) => !kept.has(index));
  if (free.length < LEAST_FITTED) return null;
  const count = Math.min(most, free.length);
  return { ...fit.ref, indices: Array.from({ length: count }, (_, i) => free[Math.floor((i * free.length) / count)]!) };
}

/** How many samples are worth their time to be fitted on. */
export const mostFitted = (elements: number): number =>
  elements > 0 ? samplesWithin(FITTING_MS, elements, MOST_FITTED, 2 * MOST_FITTED) : MOST_FITTED;

/** Less is within what the choice of the samples does. */
export const LEAST_GAIN_DB = 0.05;

/**
 * Whether a correction is kept, with the numbers that say so: what helps most samples at the cost of the largest answers
 * does not.
 * @param leftOutGainDb of the samples of the fit, each left out of it in turn, where these have judged already: answers of few numbers
 * scatter by decibels, so that those of `before` and `after`, which are fewer, would decide by chance
 */
export function judgeCorrection(
  correction: Correction,
  detail: string,
  before: MeasuredSqnr | null,
  after: MeasuredSqnr | null,
  leftOutGainDb: number | null = null,
): CorrectionFacts {
  const isMeasured = before !== null && after !== null && before.sqnrDb !== null && after.sqnrDb !== null;
  const isBetter = (): boolean => gainDb(noiseOf(before!), noiseOf(after!)) >= LEAST_GAIN_DB;
  const isKept = isMeasured && (leftOutGainDb === null ? isBetter() : Number.isFinite(after.sqnrDb));
  return {
    ...{ correction, isKept, detail },
    ...(leftOutGainDb !== null && { leftOutGainDb }),
    ...{ beforeDb: before?.sqnrDb ?? null, afterDb: after?.sqnrDb ?? null },
    ...(before?.pooledDb !== undefined && { beforePooledDb: before.pooledDb }),
    ...(after?.pooledDb !== undefined && { afterPooledDb: after.pooledDb }),
  };
}

export interface Corrected {
  /** In the order given: each as it was, or in its corrected form. */
  readonly candidates: readonly Candidate[];
  /** Of the first that has a corrected form; null where none has. */
  readonly facts: CorrectionFacts | null;
}

export interface JudgeBy {
  /** Whether it changes the last products, so that only the answers tell. */
  readonly isOfLast?: boolean;
  /** Of the first candidate, where it was fitted to that one and samples left out of the fit have judged; null elsewhere. */
  readonly leftOutGainDb?: number | null;
}

/** @param corrected the other forms of candidates, all of them measured; what is not kept is discarded */
export function keepBetter(
  correction: Correction,
  detail: string,
  candidates: readonly Candidate[],
  corrected: ReadonlyMap<Candidate, Candidate>,
  workshop: Pick<Workshop, "discard">,
  { isOfLast = false, leftOutGainDb = null }: JudgeBy = {},
): Corrected {
  let facts: CorrectionFacts | null = null;
  const kept = candidates.map((candidate, i) => {
    const better = corrected.get(candidate);
    if (!better) return candidate;
    const measure = isOfLast ? byAnswers : bestMeasure([candidate, better]);
    const judged = {
      ...judgeCorrection(correction, detail, measure.of(candidate), measure.of(better), i === 0 ? leftOutGainDb : null),
      ...(measure.isInner && { judgedBy: "inputs of the last products" as const }),
    };
    facts ??= judged;
    workshop.discard(judged.isKept ? candidate : better);
    return judged.isKept ? better : candidate;
  });
  return { candidates: kept, facts };
}

/** For the notes of a result. */
export function correctionNote(facts: CorrectionFacts): string {
  const { correction, isKept, detail } = facts;
  const change = changeOf(facts, (db) => db.toFixed(1), " on samples to judge by");
  return `correction ${correction} (${detail}) ${isKept ? "applied" : "left out"}${change && `: ${change}`}`;
}

/**
 * From what to what, dB; empty where nothing was measured. All samples together are told where they decide otherwise.
 * @param where added to what was measured
 */
export function changeOf(
  facts: Omit<CorrectionFacts, "correction">,
  inWords: (db: number) => string,
  where = "",
): string {
  const { isKept, beforeDb, afterDb, beforePooledDb, afterPooledDb, judgedBy, leftOutGainDb } = facts;
  if (beforeDb === null || afterDb === null) return "";
  const what = (judgedBy === undefined ? "" : ` of ${judgedBy}`) + where;
  const others = leftOutGainDb === undefined ? "" : `, gain ${inWords(leftOutGainDb)} dB on those left out of its fit`;
  const mean = `${inWords(beforeDb)} -> ${inWords(afterDb)} dB`;
  const isUnpooled = beforePooledDb === undefined || afterPooledDb === undefined;
  if (isUnpooled || isKept === afterDb - beforeDb >= LEAST_GAIN_DB) return mean + what + others;
  return `${mean} in the mean, ${inWords(beforePooledDb)} -> ${inWords(afterPooledDb)} dB all together${what}${others}`;
}
