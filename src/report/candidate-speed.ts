/**
 * Speeds of candidates. They are estimated to be ranked, all in the same way; then the best are timed in turns with the
 * original. What is estimated of one and timed of another says nothing on which of them is faster.
 */
import type { CandidateFacts } from "../pipeline/result.js";

export interface SpeedColumn {
  readonly title: string;
  readonly of: (candidate: CandidateFacts) => number | null;
}

const timed: SpeedColumn = { title: "timed", of: (candidate) => candidate.timed ?? null };
const estimated: SpeedColumn = { title: "estimate", of: ({ estimate = null }) => estimate };
/** Of results of earlier versions nobody knows what a speed was. */
const untold: SpeedColumn = { title: "speed", of: ({ speedup }) => speedup };

const isOld = (candidates: readonly CandidateFacts[]): boolean =>
  candidates.every((each) => each.estimate === undefined && each.timed === undefined);

/** One where all were measured alike, else both, each with what it is. */
export function speedColumns(candidates: readonly CandidateFacts[]): readonly SpeedColumn[] {
  const isEstimated = candidates.some((each) => estimated.of(each) !== null && timed.of(each) === null);
  if (isOld(candidates) || !isEstimated) return [untold];
  return candidates.some((each) => timed.of(each) !== null) ? [estimated, timed] : [estimated];
}

/** What the columns say, in words; null where there is nothing to tell apart. */
export function speedRemark(candidates: readonly CandidateFacts[]): string | null {
  const columns = speedColumns(candidates);
  if (columns[0] === untold) return null;
  const beside = isBesideRewritten(candidates) ? "beside the float model as rewritten, " : "";
  const estimate = `estimate: ${beside}by a profile, the table of kernels or a short race, to rank them by`;
  return columns.includes(timed) ? `${estimate}; timed: in turns with the original, which decides` : estimate;
}

/** Whether estimates leave out what the passes gained, so that they and what was timed are beside different models. */
export const isBesideRewritten = (candidates: readonly CandidateFacts[]): boolean =>
  candidates.some(({ estimate = null, estimateBeside }) => estimate !== null && estimateBeside === "rewritten");

/** The measure in which most are known, for all of them. */
export function commonSpeed(candidates: readonly CandidateFacts[]): SpeedColumn {
  if (isOld(candidates)) return untold;
  const known = ({ of }: SpeedColumn): number => candidates.filter((each) => of(each) !== null).length;
  return known(estimated) > known(timed) ? estimated : timed;
}

/** Of two, in a measure that both were taken in; null where there is none. */
export function speedsOf(one: CandidateFacts, other: CandidateFacts): readonly [SpeedColumn, number, number] | null {
  for (const column of isOld([one, other]) ? [untold] : [timed, estimated]) {
    const [a, b] = [column.of(one), column.of(other)];
    if (a !== null && b !== null) return [column, a, b];
  }
  return null;
}
