export { energyOf } from "./distance.js";
export { loadMetric, refuseUnusable } from "./load-metric.js";
export {
  type BuiltinMetric,
  builtinMetrics,
  type Metric,
  type MetricRef,
  type MetricSample,
  type NamedTensors,
} from "./metric.js";
export { toMetricTensor } from "./metric-tensor.js";
export { parseMetric } from "./parse-metric.js";
export { isRate } from "./rate.js";
