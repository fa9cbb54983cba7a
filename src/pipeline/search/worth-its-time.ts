/** Of placements of the same integers, the fastest or one with more in float: what errors are worth in time and in room. */
import type { Candidate } from "../candidates/candidate.js";
import { bestMeasure } from "../candidates/output-noise.js";
import { SAME_SIZE, SPEED_PER_DB } from "./rank-candidates.js";

/** Of the outputs: what some speed is given up for at all. */
const LEAST_GAIN_DB = 0.3;
/** What has more in float and is as fast, in no larger a file, is less rounded: few samples, or few numbers in an answer, say otherwise by chance up to this. */
const CHANCE_DB = 1;
/** Errors of under 2 % of the signal: less is worth no time. */
export const ENOUGH_DB = 35;

/** Weights in float take four times the room: a decibel is worth this share of the file. */
const SIZE_PER_DB = 0.05;

/** The first, with most integers, or one that is more accurate by more than the speed and the room that it gives up. */
export function worthItsTime(made: readonly Candidate[]): Candidate {
  const all = made as [Candidate, ...Candidate[]];
  const [fast] = all;
  const decibels = decibelsOf(all);
  const worth = (each: Candidate): number => decibels(each) - priceDb(each, fast);
  // Where none could be measured they are equals.
  const others = made.filter((each) => each.sqnrDb !== null || fast.sqnrDb === null);
  return others.reduce((best, each) => (worth(each) > worth(best) ? each : best), fast);
}

/**
 * Whether one that was not measured may be worth its time beside `fast`, when `careful` has all in float that it has and more:
 * up to chance it is no more accurate.
 */
export function mayBeWorthIt(each: Candidate, fast: Candidate, careful: Candidate): boolean {
  if (fast.sqnrDb === null || careful.sqnrDb === null || !Number.isFinite(careful.sqnrDb)) return true;
  const decibels = decibelsOf([fast, careful]);
  return Math.min(ENOUGH_DB, decibels(careful) + CHANCE_DB) - priceDb(each, fast) > decibels(fast);
}

/** Of the answers: of the first as they were measured, of the others as far from it as they are by what tells them apart best. */
function decibelsOf(candidates: readonly [Candidate, ...Candidate[]]): (each: Candidate) => number {
  const [first] = candidates;
  const measure = bestMeasure(candidates);
  const apart = measure.isInner && first.inner ? first.sqnrDb! - first.inner.sqnrDb : 0;
  return (each) => Math.min(ENOUGH_DB, (measure.of(each).sqnrDb ?? 0) + apart);
}

/** What has to be gained for what one gives up beside `fast`. */
function priceDb(each: Candidate, fast: Candidate): number {
  if (each === fast) return 0;
  const lost = 1 - (each.speedup ?? 1) / (fast.speedup ?? 1);
  const grown = each.built.bytes / fast.built.bytes - 1;
  const doubt = lost > 0 || grown > SAME_SIZE ? LEAST_GAIN_DB : -CHANCE_DB;
  return lost / SPEED_PER_DB + grown / SIZE_PER_DB + doubt;
}
