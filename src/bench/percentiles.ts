/** Latencies as the result shows them. */
import { ascending, percentileOrNull, quantile } from "../base/statistics.js";

/** Milliseconds; null where the number of runs cannot support the percentile. */
export interface LatencyPercentiles {
  readonly p50Ms: number;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly p999Ms: number | null;
}

export function latencyPercentiles(samplesMs: ArrayLike<number>): LatencyPercentiles {
  const sorted = ascending(samplesMs);
  return {
    p50Ms: quantile(sorted, 0.5),
    p95Ms: percentileOrNull(sorted, 0.95),
    p99Ms: percentileOrNull(sorted, 0.99),
    p999Ms: percentileOrNull(sorted, 0.999),
  };
}
