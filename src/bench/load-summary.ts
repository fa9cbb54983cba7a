/** Percentiles of a queue, with bounds that know of neighbours that wait for the same request. */
import type { PercentileBounds } from "../base/percentiles.js";
import { mean } from "../base/statistics.js";
import type { Served } from "./open-loop.js";
import { type LatencyPercentiles, latencyPercentiles, percentileBounds } from "./percentiles.js";

export interface LoadSummary {
  /** Requests that count; those of the start, when no queue had formed yet, do not. */
  readonly requests: number;
  /** Offered, and served until the last answer, requests a second. */
  readonly offeredPerSecond: number;
  readonly servedPerSecond: number;
  /** The work that arrived over the time of the processes that there was for it; at 1 and above the queue only grows. */
  readonly utilization: number;
  /** From arrival to answer, waiting for others, and being served. */
  readonly latency: LatencyPercentiles;
  readonly waiting: LatencyPercentiles;
  readonly service: LatencyPercentiles;
  readonly meanWaitingMs: number;
  /** Of the latency, each bound at 95 %; null where the requests do not reach that far. */
  readonly bounds: PercentileBounds;
}

/** Of the time at the start, while the queue forms. */
const FORMING = 0.1;
/** Of the requests that arrive, that count. */
export const COUNTED_SHARE = 1 - FORMING;

/** Of the requests that count, in the order of arrival; milliseconds. */
export interface CountedTimes {
  readonly latencies: Float64Array;
  readonly waits: Float64Array;
  readonly services: Float64Array;
}

/** For how long requests arrived, and the share of it at the start that does not count; a tenth when absent. */
export interface LoadWindow {
  readonly durationMs: number;
  /** 0 for a recording: its requests are those that were asked about, and how it begins is part of it. */
  readonly forming?: number;
}

/** All count where none came later than those that would not. */
export function countedTimes(
  { arrivalMs, startMs, endMs }: Served,
  { durationMs, forming = FORMING }: LoadWindow,
): CountedTimes {
  const all = [...arrivalMs.keys()];
  const later = all.filter((i) => arrivalMs[i]! >= forming * durationMs);
  const counted = later.length === 0 ? all : later;
  return {
    latencies: Float64Array.from(counted, (i) => endMs[i]! - arrivalMs[i]!),
    waits: Float64Array.from(counted, (i) => Math.max(0, startMs[i]! - arrivalMs[i]!)),
    services: Float64Array.from(counted, (i) => endMs[i]! - startMs[i]!),
  };
}

/** Throws for a load without requests. */
export function summarizeLoad(
  served: Served,
  window: LoadWindow,
  processes: number,
  { latencies, waits, services } = countedTimes(served, window),
): LoadSummary {
  const { durationMs, forming = FORMING } = window;
  const formingMs = forming * durationMs;
  const countedMs = durationMs - formingMs;
  const lastEnd = served.endMs.reduce((last, end) => Math.max(last, end), 0);
  return {
    requests: latencies.length,
    offeredPerSecond: (1000 * latencies.length) / countedMs,
    servedPerSecond: (1000 * latencies.length) / Math.max(countedMs, lastEnd - formingMs),
    utilization: services.reduce((sum, ms) => sum + ms, 0) / (countedMs * processes),
    latency: latencyPercentiles(latencies),
    waiting: latencyPercentiles(waits),
    service: latencyPercentiles(services),
    meanWaitingMs: mean(waits),
    bounds: percentileBounds(latencies),
  };
}
