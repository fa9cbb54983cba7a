/** Latencies as the result shows them. */
import { byPercentile, type PercentileBounds, percentileNames, percentileShares } from "../base/percentiles.js";
import { quantileIntervals } from "../base/quantile-interval.js";
import { ascending, mean, nearestRank, percentileOrNull } from "../base/statistics.js";

/** Milliseconds; null where the number of runs cannot support the percentile. Each is one of the times that were measured. */
export interface LatencyPercentiles {
  readonly p50Ms: number;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly p999Ms: number | null;
  /** At 95 %. */
  readonly bounds: PercentileBounds;
}

/** Of what is shown. */
const SHOWN = 0.95;
/** Of what a limit is held against: each end holds at 95 %. */
const JUDGED = 0.9;

/**
 * Of times in the order they were measured. By the nearest rank, as histograms of latencies have them (and `--hdr-log` therefore): in the tail a value between
 * two neighbours that lie far apart would be one that never occurred. Speedups divide medians of the same kind, so that
 * one p50 over another is the speedup that is told.
 */
export function latencyPercentiles(samplesMs: ArrayLike<number>): LatencyPercentiles {
  const sorted = ascending(samplesMs);
  const { p50, p90, p95, p99, p999 } = percentileShares;
  return {
    p50Ms: nearestRank(sorted, p50),
    p90Ms: percentileOrNull(sorted, p90),
    p95Ms: percentileOrNull(sorted, p95),
    p99Ms: percentileOrNull(sorted, p99),
    p999Ms: percentileOrNull(sorted, p999),
    bounds: intervalsOf(samplesMs, SHOWN),
  };
}

/** Samples a second, one batch after the other. By the mean: what is slow now and then takes its time as well. */
export const throughputOf = (samplesMs: ArrayLike<number>, batch: number): number => (1000 * batch) / mean(samplesMs);

/** For limits. Of times in the order they were measured. */
export const percentileBounds = (samplesMs: ArrayLike<number>): PercentileBounds => intervalsOf(samplesMs, JUDGED);

function intervalsOf(samplesMs: ArrayLike<number>, confidence: number): PercentileBounds {
  const shares = percentileNames.map((name) => percentileShares[name]);
  const intervals = quantileIntervals(samplesMs, shares, confidence);
  return byPercentile((name) => intervals[percentileNames.indexOf(name)]!);
}
