/** A sample as models and metrics see it. */
import type { Sample } from "../../../dataset/index.js";
import { Tensor } from "../../../ir/index.js";
import { type MetricSample, type NamedTensors, toMetricTensor } from "../../../metric/index.js";
import type { Tensors } from "../../port.js";
import { feedsOf } from "./samples.js";
import { type OpenModel, toTensors } from "./session.js";

/** What a model makes of a sample. */
export const outputsOf = async (model: OpenModel, sample: Sample): Promise<NamedTensors> =>
  named(await tensorsOf(model, sample));

/** The same as the runtime gives it. */
export async function tensorsOf(model: OpenModel, sample: Sample): Promise<Tensors> {
  const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
  return toTensors(await model.run(feeds, model.readable, sample.id));
}

/** Of a sample, what a metric is told besides outputs. */
export function forMetric(sample: Sample): { labels: unknown; facts: MetricSample } {
  const { labels } = sample;
  return {
    labels: labels === null ? null : labels instanceof Tensor ? toMetricTensor(labels) : labels.json,
    facts: { id: sample.id, inputs: named(sample.feeds) },
  };
}

export const named = (tensors: Tensors): NamedTensors =>
  Object.fromEntries(Array.from(tensors, ([name, tensor]) => [name, toMetricTensor(tensor)]));
