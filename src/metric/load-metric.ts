/** A reference to the metric it names. */
import { builtinMetric } from "./builtin.js";
import type { Metric, MetricRef } from "./metric.js";
import { moduleMetric } from "./module-metric.js";

/** Loads a module once per process, as imports are. Rejects with METRIC_MODULE_* when it cannot be used. */
export async function loadMetric(ref: MetricRef): Promise<Metric> {
  return ref.kind === "builtin" ? builtinMetric(ref.name) : moduleMetric(ref.path);
}
