/** Latencies as the result shows them. */
import { ascending, nearestRank, percentileOrNull } from "../base/statistics.js";

/** Milliseconds; null where the number of runs cannot support the percentile. Each is one of the times that were measured. */
export interface LatencyPercentiles {
  readonly p50Ms: number;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly p999Ms: number | null;
}

/**
 * By the nearest rank, as histograms of latencies have them (and `--hdr-log` therefore): in the tail a value between
 * two neighbours that lie far apart would be one that never occurred.
 */
export function latencyPercentiles(samplesMs: ArrayLike<number>): LatencyPercentiles {
  const sorted = ascending(samplesMs);
  return {
    p50Ms: nearestRank(sorted, 0.5),
    p95Ms: percentileOrNull(sorted, 0.95),
    p99Ms: percentileOrNull(sorted, 0.99),
    p999Ms: percentileOrNull(sorted, 0.999),
  };
}
