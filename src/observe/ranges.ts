/**
 * From a tap's statistics to the range that integers should cover. Each method is a
 * pure function of the statistics, so merged shards choose what one run would.
 *
 *   minmax           everything seen
 *   moving-average   from the mean of the tensors' least elements to the mean of their largest
 *   percentile       all but a small share of the elements, half of it at each end
 *   entropy          the clip whose distribution stays closest (Kullback-Leibler) once quantized
 *   mse              the clip with the smallest expected squared error
 */
import { InferOptError } from "../base/errors.js";
import { entropyBins } from "./range-entropy.js";
import { mseBins } from "./range-mse.js";
import { binsPerSide, binWidth, finiteCount, meanExtremes, type TapStatistics } from "./statistics.js";

export const rangeMethods = ["minmax", "moving-average", "percentile", "entropy", "mse"] as const;
export type RangeMethod = (typeof rangeMethods)[number];

export interface RangeOptions {
  readonly method: RangeMethod;
  /** Of the elements, the percentage that stays inside; in (50, 100]. 99.99 when absent. */
  readonly percentile?: number;
  /** How many integers the range is cut into; 256 when absent. */
  readonly levels?: number;
}

export interface TapRange {
  /** Finite, at most 0. */
  readonly low: number;
  /** Finite, at least 0, above low. */
  readonly high: number;
  /** Share of the finite elements outside, to the resolution of the histogram. */
  readonly clippedShare: number;
}

/**
 * Bins that stay inside: [first, last) in the numbering of `counts`, with
 * first <= binsPerSide <= last. binsPerSide on one end means that side is empty.
 */
export interface BinRange {
  readonly first: number;
  readonly last: number;
}

/** Narrower than this cannot be told from nothing: a scale made of it would leave float32's normal range. */
const least = 2 ** -96;

/** Throws RANGE_PERCENTILE when the percentile is out of (50, 100]. */
export function chooseRange(tap: TapStatistics, options: RangeOptions): TapRange {
  const bins = chooseBins(tap, options);
  const width = binWidth(tap);
  const bounds =
    options.method === "moving-average"
      ? meanExtremes(tap)
      : { min: (bins.first - binsPerSide) * width, max: (bins.last - binsPerSide) * width };
  const low = Math.min(0, Math.max(tap.min, bounds.min));
  const high = Math.max(0, Math.min(tap.max, bounds.max));
  if (!(high - low >= least)) return { low: 0, high: 1, clippedShare: 0 };
  const total = finiteCount(tap);
  return { low, high, clippedShare: (total - countWithin(tap, bins)) / total };
}

function chooseBins(tap: TapStatistics, options: RangeOptions): BinRange {
  const levels = options.levels ?? 256;
  const all = filledBins(tap);
  if (all.first === all.last) return all;
  switch (options.method) {
    case "minmax":
      return all;
    case "moving-average":
      return meanBins(tap);
    case "percentile":
      return percentileBins(tap, options.percentile ?? 99.99);
    case "entropy":
      return entropyBins(tap, all, levels);
    case "mse":
      return mseBins(tap, all, levels);
  }
}

/** The bins that the mean extremes lie in, and all between. */
function meanBins(tap: TapStatistics): BinRange {
  const { min, max } = meanExtremes(tap);
  const width = binWidth(tap);
  return {
    first: Math.min(binsPerSide, Math.floor(min / width) + binsPerSide),
    last: Math.max(binsPerSide, Math.ceil(max / width) + binsPerSide),
  };
}

/** From the lowest filled bin to the highest, 0 always included. */
function filledBins(tap: TapStatistics): BinRange {
  const { counts } = tap;
  let first = 0;
  while (first < binsPerSide && counts[first] === 0) first++;
  let last = counts.length;
  while (last > binsPerSide && counts[last - 1] === 0) last--;
  return { first, last };
}

/** Leaves out whole bins from each end while what is left out is at most half the allowed share. */
function percentileBins(tap: TapStatistics, percentile: number): BinRange {
  if (!(percentile > 50 && percentile <= 100)) {
    throw new InferOptError("RANGE_PERCENTILE", "usage", `a percentile of ${percentile} is not in (50, 100]`, {
      hint: "Name the percentage of values to keep, for instance 99.99.",
      fields: { percentile },
    });
  }
  const { counts } = tap;
  const allowed = finiteCount(tap) * ((1 - percentile / 100) / 2);
  let first = 0;
  for (let out = 0; first < binsPerSide; first++) {
    out += counts[first]!;
    if (out > allowed) break;
  }
  let last = counts.length;
  for (let out = 0; last > binsPerSide; last--) {
    out += counts[last - 1]!;
    if (out > allowed) break;
  }
  return { first, last };
}

function countWithin(tap: TapStatistics, { first, last }: BinRange): number {
  // An empty positive side still holds the zeros, which are never clipped.
  let inside = last === binsPerSide ? tap.zeroCount : 0;
  for (let bin = first; bin < last; bin++) inside += tap.counts[bin]!;
  return inside;
}
