/**
 * How many times as long it takes to decide a limit that an interval holds: the interval shrinks with the root of the time, so
 * that it is clear of the limit after (half its width / distance)^2 times as long. Were the rest as what was measured.
 */

/** Nobody measures for longer than so many times as long to be told. */
export const MOST_TIMES = 100;

/** An end is null where the runs do not reach that far. */
type Interval = readonly [low: number | null, high: number | null];

/** null where not even the most would do; undefined where nobody knows, for want of an end. */
export function timesToTell(got: number, [low, high]: Interval, limit: number): number | null | undefined {
  const end = got < limit ? high : low;
  if (end === null) return undefined;
  return withinReason(((end - got) / (limit - got)) ** 2);
}

/** The same of ratios, whose intervals are even in their logarithms. */
export const timesToTellRatio = (got: number, [low, high]: readonly [number, number], limit: number): number | null =>
  timesToTell(Math.log(got), [Math.log(low), Math.log(high)], Math.log(limit)) ?? null;

/** Until the upper end of an interval of a ratio is within `factor` of the lower one. */
export const timesToNarrow = ([low, high]: readonly [number, number], factor: number): number | null =>
  withinReason((Math.log(high / low) / Math.log(factor)) ** 2);

/** To be put behind what is undecided. */
export function timeRemark(longer: number | null | undefined): string {
  if (longer === undefined) return "time longer, or on a quieter machine";
  if (longer === null) return `not even ${MOST_TIMES} times as long would tell`;
  return `about ${Math.ceil(longer)} times as long would tell, or a quieter machine`;
}

/** Twice as long at least: what was measured is one of many intervals that might have been. */
const withinReason = (times: number): number | null => (times <= MOST_TIMES ? Math.max(2, times) : null);
