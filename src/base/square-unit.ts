/**
 * Squares of float64 leave the numbers there are long before the values do: those of 1e155 are infinite, those of 1e-163
 * are 0. Where sums of squares are wanted, values are divided by a unit first.
 */

/** Within, squares of values and products of their sums are all right, however many there are. */
const [LEAST, MOST] = [1e-60, 1e60];
/** The reciprocal of less would be infinite. */
const SMALLEST_UNIT = 1e-300;

/** 1 for usual values. @param largest magnitude there is, finite */
export const squareUnit = (largest: number): number =>
  largest === 0 || (largest > LEAST && largest < MOST) ? 1 : Math.max(largest, SMALLEST_UNIT);

/** The largest magnitude among the finite values; 0 where there are none. */
export function largestFinite(values: Float32Array | Float64Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!);
    if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
  }
  return largest;
}
