/**
 * Which activations are observed together. A tapped run holds every tapped tensor of a
 * sample at once, which for large images is far more than the model itself needs: groups
 * keep that under a limit, at the price of running the samples once per group.
 */
import { type DatasetRef, type InputSpec, openDatasetRef } from "../dataset/index.js";
import { bitsOf, elementCount, isStatic, loadModel, type Model, type Value } from "../ir/index.js";
import { annotateTypes } from "../rewrite/index.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { describer } from "./model-runs.js";

export interface TapGroup {
  readonly labels: readonly string[];
  /** What these tensors take together for one sample. */
  readonly bytes: number;
}

/** What a tensor is taken for whose shape nobody knows. */
const UNKNOWN_BYTES = 4 << 20;

/**
 * Labels in the order given, cut where the next tensor would exceed `runtime.maxMemoryBytes`;
 * one at least in each group. Sizes are those of the first sample.
 * @param path the model, whose values have distinct labels
 */
export async function groupTaps(
  path: string,
  labels: readonly string[],
  data: DatasetRef,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<readonly TapGroup[]> {
  const model = loadModel(path);
  await sizeBySample(model, data, runtime, context);
  const values = new Map<string, Value>();
  for (const input of model.graph.inputs) values.set(input.label, input);
  for (const node of model.graph.nodes()) for (const value of node.outputs) if (value) values.set(value.label, value);

  const groups: { readonly labels: string[]; bytes: number }[] = [];
  for (const label of labels) {
    const bytes = bytesOf(values.get(label));
    const group = groups.at(-1);
    if (group && group.bytes + bytes <= runtime.maxMemoryBytes) {
      group.labels.push(label);
      group.bytes += bytes;
    } else groups.push({ labels: [label], bytes });
  }
  return groups;
}

/** Writes the shapes that the first sample gives on the values of the main graph, as far as they can be inferred. */
export async function sizeBySample(
  model: Model,
  data: DatasetRef,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<void> {
  const { inputs, outputs } = model.graph;
  const signature = inputs.map(({ label, dtype, shape }): InputSpec => ({ name: label, dtype, shape }));
  const dataset = await openDatasetRef(data, signature);
  for await (const sample of dataset.samples([0])) {
    for (const input of inputs) {
      const given = sample.feeds.get(input.label)?.dims;
      if (!given) continue;
      // A sample that lies in its file without the batch axis gets one of size 1.
      const isBare = input.shape?.length === given.length + 1;
      input.type = { dtype: input.dtype, shape: isBare ? [1, ...given] : given };
    }
  }
  // What the model says of its outputs has names in it where there are numbers now.
  for (const { value } of outputs) if (!value.isGraphInput) value.type = null;
  await annotateTypes(model, describer(runtime, context));
}

function bytesOf(value: Value | undefined): number {
  const { dtype, shape } = value ?? {};
  if (!dtype || !shape || !isStatic(shape)) return UNKNOWN_BYTES;
  return (elementCount(shape) * bitsOf(dtype)) / 8;
}
