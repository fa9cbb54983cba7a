/** A reference to the metric it names. */
import { builtinMetric } from "./builtin.js";
import { labelsMissing } from "./label-classes.js";
import type { Metric, MetricRef } from "./metric.js";
import { moduleMetric, refuseMissing } from "./module-metric.js";

/** Loads a module once per process, as imports are. Rejects with METRIC_MODULE_* when it cannot be used. */
export async function loadMetric(ref: MetricRef): Promise<Metric> {
  return ref.kind === "builtin" ? builtinMetric(ref.name) : moduleMetric(ref.path);
}

/**
 * Throws METRIC_MODULE_MISSING, or METRIC_LABELS_MISSING where no sample has the labels that it needs: before anything is made that it is to judge.
 * @param data what it is called in errors
 */
export function refuseUnusable(ref: MetricRef, data: string, isLabelled: boolean): void {
  if (ref.kind === "module") refuseMissing(ref.path);
  else if (builtinMetric(ref.name).needsLabels && !isLabelled) throw labelsMissing(ref.name, { data });
}
