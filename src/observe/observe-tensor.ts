/** Adds tensors to a tap's statistics. */
import { binsPerSide, exponentAbove, growTo, type TapStatistics } from "./statistics.js";

/** Adds the elements of one tensor to the tap. The values are only read. */
export function observeTensor(tap: TapStatistics, values: Float32Array): void {
  tap.samples++;
  tap.count += values.length;
  observePlain(tap, values);
}

/** One element at a time, in any engine; the measure of every faster way. */
export function observePlain(tap: TapStatistics, values: Float32Array): void {
  let min = tap.min;
  let max = tap.max;
  let nans = 0;
  let infinities = 0;
  let zeros = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    // x - x is 0 for finite x and NaN otherwise.
    if (x - x !== 0) {
      if (x === x) infinities++;
      else nans++;
      continue;
    }
    if (x === 0) zeros++;
    if (x < min) min = x;
    if (x > max) max = x;
  }
  tap.nanCount += nans;
  tap.infCount += infinities;
  tap.zeroCount += zeros;
  if (min > max) return;
  tap.min = min + 0; // -0 + 0 is 0: the sign of zero would depend on the order
  tap.max = max + 0;
  growTo(tap, exponentAbove(Math.max(-tap.min, tap.max)));
  const scale = binsPerSide / 2 ** tap.exponent;
  const counts = tap.counts;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (x - x !== 0) continue;
    const bin = (x * scale) | 0; // toward zero
    counts[x < 0 ? binsPerSide - 1 + bin : binsPerSide + bin]!++;
  }
}
