/**
 * What calibration remembers of one tensor over any number of samples: counts,
 * extremes and a histogram, in constant memory.
 *
 * Everything is a whole number or an extreme, and the histogram's bin width is a
 * power of two that follows from the largest magnitude alone. So the state depends
 * on the values seen, not on their order or grouping: shards merged in any order
 * equal one run, bit for bit.
 *
 * Bin i of a side (B = binsPerSide, R = 2^exponent, width w = R / B) holds
 *   positive: i*w <= x < (i+1)*w      at counts[B + i]      (zeros are in i = 0)
 *   negative: -(i+1)*w < x <= -i*w    at counts[B - 1 - i]  (x < 0)
 * and R is the smallest power of two above every |x|, but not below 2^minExponent.
 * When R doubles, bins join in pairs, which loses nothing that a run with the wider
 * R from the start would have kept.
 */
import { invariant } from "../base/errors.js";

export const binsPerSide = 2048;
/** Values below 2^-110 share the bins next to zero; it keeps 1 / width a normal float32. */
export const minExponent = -110;

/** Plain data: survives structured clone as it is, and JSON through `tapToJson`. */
export interface TapStatistics {
  readonly name: string;
  /** Tensors observed. */
  samples: number;
  /** Elements observed, NaN and infinities included. */
  count: number;
  /** Extremes of the finite elements; Infinity and -Infinity while there are none. Never -0. */
  min: number;
  max: number;
  nanCount: number;
  infCount: number;
  /** Sums over tensors of each one's extremes, as whole multiples of 2^-149, which every float32 is: exact in any order. */
  minSum: bigint;
  maxSum: bigint;
  /** Tensors in these sums: those with a finite element. */
  summed: number;
  /** Elements equal to 0 or -0. */
  zeroCount: number;
  /** The histogram covers (-2^exponent, 2^exponent). */
  exponent: number;
  /** Finite elements by bin, negative side first: 2 * binsPerSide whole numbers. */
  counts: Float64Array;
}

export function newTap(name: string): TapStatistics {
  return {
    name,
    samples: 0,
    count: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    nanCount: 0,
    infCount: 0,
    minSum: 0n,
    maxSum: 0n,
    summed: 0,
    zeroCount: 0,
    exponent: minExponent,
    counts: new Float64Array(2 * binsPerSide),
  };
}

/** Of finite elements; Infinity and -Infinity where there are none. */
export interface Extremes {
  readonly min: number;
  readonly max: number;
}

/** The smallest float32 above 0 is 1 / this. */
const unitsInOne = 2 ** 149;

/** Adds the extremes of one tensor to the sums. */
export function addExtremes(tap: TapStatistics, { min, max }: Extremes): void {
  if (min > max) return;
  tap.summed++;
  tap.minSum += BigInt(min * unitsInOne);
  tap.maxSum += BigInt(max * unitsInOne);
}

/** Means over tensors of each one's extremes; 0 where there are none. */
export function meanExtremes({ minSum, maxSum, summed }: TapStatistics): Extremes {
  const mean = (sum: bigint): number => (summed === 0 ? 0 : Number(sum) / unitsInOne / summed);
  return { min: mean(minSum), max: mean(maxSum) };
}

/** Width of one bin. */
export const binWidth = (tap: TapStatistics): number => 2 ** tap.exponent / binsPerSide;

/** Elements that are neither NaN nor infinite. */
export const finiteCount = (tap: TapStatistics): number => tap.count - tap.nanCount - tap.infCount;

/** The smallest exponent whose power of two is above `magnitude` (finite, >= 0), at least minExponent. */
export function exponentAbove(magnitude: number): number {
  if (magnitude < 2 ** minExponent) return minExponent;
  let exponent = Math.floor(Math.log2(magnitude)) + 1;
  // The logarithm rounds: settle it with exact powers.
  while (2 ** exponent <= magnitude) exponent++;
  while (2 ** (exponent - 1) > magnitude) exponent--;
  return exponent;
}

/** Widens the histogram until it covers (-2^exponent, 2^exponent). */
export function growTo(tap: TapStatistics, exponent: number): void {
  const shift = exponent - tap.exponent;
  if (shift <= 0) return;
  const old = tap.counts;
  const wide = new Float64Array(old.length);
  // Whatever the shift, a bin's number halves `shift` times; past 31 all land in bin 0.
  const by = Math.min(shift, 31);
  for (let i = 0; i < binsPerSide; i++) {
    wide[binsPerSide + (i >> by)]! += old[binsPerSide + i]!;
    wide[binsPerSide - 1 - (i >> by)]! += old[binsPerSide - 1 - i]!;
  }
  tap.counts = wide;
  tap.exponent = exponent;
}

/** The statistics of everything that either saw. New; the arguments stay as they are. */
export function mergeTaps(a: TapStatistics, b: TapStatistics): TapStatistics {
  invariant(a.name === b.name, `taps "${a.name}" and "${b.name}" are different tensors`);
  const merged: TapStatistics = { ...a, counts: a.counts.slice() };
  growTo(merged, b.exponent);
  const other = { ...b };
  growTo(other, merged.exponent);
  for (let i = 0; i < merged.counts.length; i++) merged.counts[i]! += other.counts[i]!;
  merged.samples += b.samples;
  merged.count += b.count;
  merged.nanCount += b.nanCount;
  merged.infCount += b.infCount;
  merged.minSum += b.minSum;
  merged.maxSum += b.maxSum;
  merged.summed += b.summed;
  merged.zeroCount += b.zeroCount;
  if (b.min < merged.min) merged.min = b.min;
  if (b.max > merged.max) merged.max = b.max;
  return merged;
}
