/** Latencies as the result shows them. */
import { byPercentile, type PercentileName, percentileNames, percentileShares } from "../base/percentiles.js";
import { type Bounds, quantileIntervals } from "../base/quantile-interval.js";
import { ascending, nearestRank, percentileOrNull } from "../base/statistics.js";

/** Milliseconds; null where the number of runs cannot support the percentile. Each is one of the times that were measured. */
export interface LatencyPercentiles {
  readonly p50Ms: number;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly p999Ms: number | null;
}

/**
 * By the nearest rank, as histograms of latencies have them (and `--hdr-log` therefore): in the tail a value between
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
  };
}

/** Of times in the order they were measured. By default as limits are judged: each end holds at 95 %. */
export function percentileBounds(
  samplesMs: ArrayLike<number>,
  confidence = 0.9,
): Readonly<Record<PercentileName, Bounds>> {
  const shares = percentileNames.map((name) => percentileShares[name]);
  const intervals = quantileIntervals(samplesMs, shares, confidence);
  return byPercentile((name) => intervals[percentileNames.indexOf(name)]!);
}
