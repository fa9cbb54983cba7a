/** In which order candidates are looked at: by the goal, as estimated before any of them is raced. */
import type { Candidate } from "../candidates/candidate.js";
import type { Limits, OptimizeConfig } from "../config.js";
import { isNoise } from "../verify/nonsense.js";

/** Speeds this close are the same; then accuracy decides. */
export const SAME_SPEED = 0.1;
/** Where no limit says how much error is too much, a decibel is worth this share of the speed, ... */
export const SPEED_PER_DB = 0.015;
/** ... and all of them together this much: what is far slower is not the answer, however exact. */
export const MOST_SPEED_FOR_ACCURACY = 0.15;
/** Files this close in size are the same; then speed decides where size is the goal. */
export const SAME_SIZE = 0.03;
/** Errors this close are the same; then speed decides after all. */
const SAME_SQNR_DB = 1;

/** Those fast enough that their errors may decide between them; where there are several, their errors must be known. */
export function contenders(candidates: readonly Candidate[]): readonly Candidate[] {
  const fastest = Math.max(...candidates.map(({ speedup }) => speedup!));
  return candidates.filter(({ speedup }) => speedup! * (1 + MOST_SPEED_FOR_ACCURACY) >= fastest);
}

/** In the order of the goal; what is mere noise comes last. */
export function rankCandidates(
  candidates: readonly Candidate[],
  { quantize: { goal }, limits }: OptimizeConfig,
  isMeasurable: boolean,
): Candidate[] {
  const bySize = isMeasurable ? bySizeThenSpeed : byBytes;
  const order = goal === "size" ? bySize : bySpeed;
  return [false, true].flatMap((wanted) =>
    order(
      candidates.filter((each) => isNoise(each) === wanted),
      limits,
    ),
  );
}

const byBytes = (candidates: readonly Candidate[]): Candidate[] =>
  [...candidates].sort((a, b) => a.built.bytes - b.built.bytes);

/** Smaller first; among files of about the smallest size the faster. */
function bySizeThenSpeed(candidates: readonly Candidate[], limits: Limits): Candidate[] {
  const least = Math.min(...candidates.map(({ built }) => built.bytes));
  const isSmall = ({ built }: Candidate): boolean => built.bytes <= least * (1 + SAME_SIZE);
  return [...bySpeed(candidates.filter(isSmall), limits), ...byBytes(candidates.filter((each) => !isSmall(each)))];
}

/** Faster first; among equals the more accurate, and where the user declared no limit on accuracy, a little speed is given for much of it. */
function bySpeed(candidates: readonly Candidate[], limits: Limits): Candidate[] {
  if (candidates.length === 0) return [];
  const fastest = candidates.reduce((a, b) => (b.speedup! > a.speedup! ? b : a));
  const top = fastest.speedup!;
  const isDeclared = limits.maxDrop !== null && limits.maxDrop !== "none";
  const close = isDeclared ? candidates.filter(({ speedup }) => speedup! >= top * (1 - SAME_SPEED)) : [];
  const speed = (c: Candidate): number => {
    if (isDeclared) return close.includes(c) ? top : c.speedup!;
    const better = (c.sqnrDb ?? Number.NaN) - (fastest.sqnrDb ?? Number.NaN);
    return c.speedup! * (1 + Math.min(MOST_SPEED_FOR_ACCURACY, SPEED_PER_DB * Math.max(0, better || 0)));
  };
  const finest = Math.max(...close.map(({ sqnrDb }) => sqnrDb ?? 0));
  const error = (c: Candidate): number => ((c.sqnrDb ?? 0) >= finest - SAME_SQNR_DB ? finest : (c.sqnrDb ?? 0));
  const descending = (a: number, b: number): number => (a === b ? 0 : b - a);
  return smallerFirst(
    [...candidates].sort(
      (a, b) => descending(speed(a), speed(b)) || descending(error(a), error(b)) || descending(a.speedup!, b.speedup!),
    ),
  );
}

/**
 * Where no table tells what kernels take, estimates this close are chance, and so would be the first of what differs in nothing
 * else: it is the smallest of them.
 */
function smallerFirst(ranked: Candidate[]): Candidate[] {
  const [first] = ranked;
  if (!first || !isProfiled(first)) return ranked;
  const isAlike = (each: Candidate): boolean =>
    isProfiled(each) &&
    each.speedup! >= first.speedup! * (1 - SAME_SPEED) &&
    Math.abs((each.sqnrDb ?? 0) - (first.sqnrDb ?? 0)) < SAME_SQNR_DB;
  const smallest = ranked.filter(isAlike).reduce((a, b) => (b.built.bytes < a.built.bytes ? b : a), first);
  return [smallest, ...ranked.filter((each) => each !== smallest)];
}

/** Static integers are placed by the table of kernel times. */
const isProfiled = ({ variant }: Candidate): boolean => variant.kind === "integers" && variant.recipe.statics === null;
