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
  // Zeros lie in the first bin of the positive side, so that one always stays.
  const last = Math.max(binsPerSide + 1, Math.min(tap.counts.length, Math.ceil(high / width) + binsPerSide));
  const counts = new Float64Array(tap.counts.length);
  let negative = 0;
  let positive = 0;
  tap.counts.forEach((count, bin) => {
    counts[Math.min(last - 1, Math.max(first, bin))]! += count;
    if (bin < binsPerSide) negative += count;
    else positive += count;
  });
  const zeroCount = (high === 0 ? positive : tap.zeroCount) + (low === 0 ? negative : 0);
  const clamp = (value: number): number => Math.min(high, Math.max(low, value));
  return { ...tap, min: clamp(tap.min), max: clamp(tap.max), zeroCount, counts };
}
