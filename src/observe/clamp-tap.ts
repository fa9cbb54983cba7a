import { binsPerSide, binWidth, type TapStatistics } from "./statistics.js";

/**
 * The statistics as they would be had every element been clamped to [low, high], which
 * holds 0. New; exact but for the bins that the bounds cut, whose elements move to the
 * bound's side. For tensors whose readers make no difference between values beyond it.
 */
export function clampTap(tap: TapStatistics, low: number, high: number): TapStatistics {
  if (low <= tap.min && tap.max <= high) return tap;
  const width = binWidth(tap);
  const first = Math.max(0, Math.floor(low / width) + binsPerSide);
  const last = Math.min(tap.counts.length, Math.ceil(high / width) + binsPerSide);
  const counts = new Float64Array(tap.counts.length);
  for (let bin = 0; bin < counts.length; bin++) {
    const to = bin < first ? first : bin >= last ? Math.max(first, last - 1) : bin;
    counts[to]! += tap.counts[bin]!;
  }
  return { ...tap, min: Math.max(tap.min, low), max: Math.min(tap.max, high), counts };
}
