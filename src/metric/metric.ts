/**
 * What a metric is: a number for the outputs of one sample, averaged over samples
 * by whoever asks. Built in, or a module of the user's.
 */
import type { MetricTensor } from "./metric-tensor.js";

export const builtinMetrics = ["top1", "top5", "agreement", "cosine", "sqnr", "mse"] as const;
export type BuiltinMetric = (typeof builtinMetrics)[number];

/** A metric as plain data, loaded again in the process that scores. */
export type MetricRef =
  | { readonly kind: "builtin"; readonly name: BuiltinMetric }
  /** `path` is absolute. */
  | { readonly kind: "module"; readonly path: string };

/** Tensors by name; what a metric module receives as `outputs`, `sample` and `reference`. */
export type NamedTensors = Readonly<Record<string, MetricTensor>>;

/** Labels of a sample: a tensor, a JSON value as given, or null when the data has none. */
export type MetricLabels = unknown;

/** The inputs of a sample and what errors call it. */
export interface MetricSample {
  readonly id: string;
  readonly inputs: NamedTensors;
}

export interface Metric {
  readonly name: string;
  readonly higherIsBetter: boolean;
  /** null: a module's business, which nobody can tell from outside. */
  readonly needsLabels: boolean | null;
  readonly needsReference: boolean | null;
  /**
   * Score of one sample. `reference` holds the baseline model's outputs; for the baseline
   * itself it is `outputs` again. Rejects with METRIC_* when labels do not fit or the
   * result is not a finite number.
   */
  score(outputs: NamedTensors, labels: MetricLabels, sample: MetricSample, reference: NamedTensors): Promise<number>;
}
