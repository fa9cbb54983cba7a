/**
 * Observing one element at a time: for short tensors, for those with NaN or infinities,
 * for engines without vector instructions, and the measure of the kernel in tests.
 */
import { binsPerSide, type Extremes, exponentAbove, growTo, type TapStatistics } from "./statistics.js";

/** Adds elements (not a sample: `samples`, `count` and the sums of extremes stay) to the tap; returns their extremes. */
export function observePlain(tap: TapStatistics, values: Float32Array): Extremes {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x - x !== 0) {
      // NaN or infinite: only those differ from themselves by something other than 0.
      if (Number.isNaN(x)) tap.nanCount++;
      else tap.infCount++;
      continue;
    }
    if (x === 0) tap.zeroCount++;
    if (x < min) min = x;
    if (x > max) max = x;
  }
  if (min > max) return { min, max };
  widen(tap, min, max);
  const scale = binsPerSide / 2 ** tap.exponent;
  const counts = tap.counts;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x - x !== 0) continue;
    const bin = (x * scale) | 0; // toward zero
    counts[x < 0 ? binsPerSide - 1 + bin : binsPerSide + bin]!++;
  }
  return { min, max };
}

/** Takes in new extremes (finite, min <= max) and grows the histogram to hold them. */
export function widen(tap: TapStatistics, min: number, max: number): void {
  // -0 + 0 is 0: which zero came first must not show.
  if (min < tap.min) tap.min = min + 0;
  if (max > tap.max) tap.max = max + 0;
  growTo(tap, exponentAbove(Math.max(-tap.min, tap.max)));
}
