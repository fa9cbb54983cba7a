export { type ArrivalKind, arrivals, rateOf } from "./arrivals.js";
export {
  type CandidateLatency,
  compareLatency,
  type LatencyComparison,
  type LatencyOptions,
  type ModelLatency,
} from "./compare-latency.js";
export { hdrLog, type LatencySeries } from "./hdr-log.js";
export {
  COUNTED_SHARE,
  type CountedTimes,
  countedTimes,
  type LoadSummary,
  type LoadWindow,
  summarizeLoad,
} from "./load-summary.js";
export { type Served, Server } from "./open-loop.js";
export { type LatencyPercentiles, latencyPercentiles, percentileBounds, throughputOf } from "./percentiles.js";
export { areEnough, queriesNeeded } from "./queries-needed.js";
export { decide, isInDoubt, type ProcessSeries } from "./speedup.js";
export { type StageTimes, stageTimes } from "./stage-times.js";
export { type SweepSeries, sweep } from "./sweep.js";
