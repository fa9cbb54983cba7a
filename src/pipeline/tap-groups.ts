/**
 * Which activations are observed together. A tapped run holds every tapped tensor of a
 * sample at once, which for large images is far more than the model itself needs: groups
 * keep that under a limit, at the price of running the samples once per group.
 */
import { type DatasetRef, inputsOf, openDatasetRef } from "../dataset/index.js";
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
  const values = valuesOf(model);
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

/**
 * Elements of one sample by label, the mean of the first `samples`, without running them; null where a shape cannot
 * be told by those of the inputs.
 * @param path the model, whose values have distinct labels
 */
export async function elementsBySample(
  path: string,
  labels: readonly string[],
  data: DatasetRef,
  samples: number,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<ReadonlyMap<string, number> | null> {
  const means = new Map(labels.map((label) => [label, 0]));
  const all = await dimsOf(loadModel(path), data, samples);
  const known = new Map<string, readonly number[]>();
  for (const dims of all) {
    const key = JSON.stringify([...dims]);
    const elements = known.get(key) ?? (await elementsFor(path, labels, dims, runtime, context));
    if (!elements) return null;
    known.set(key, elements);
    for (const [i, label] of labels.entries()) means.set(label, means.get(label)! + elements[i]! / all.length);
  }
  return means;
}

async function elementsFor(
  path: string,
  labels: readonly string[],
  dims: Dims,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<readonly number[] | null> {
  const model = loadModel(path);
  await sizeByDims(model, dims, runtime, context);
  const values = valuesOf(model);
  const shapes = labels.map((label) => values.get(label)?.shape);
  return shapes.every((shape) => shape != null && isStatic(shape)) ? shapes.map((shape) => elementCount(shape)) : null;
}

function valuesOf({ graph }: Model): ReadonlyMap<string, Value> {
  const values = new Map(graph.inputs.map((input) => [input.label, input]));
  for (const node of graph.nodes()) for (const value of node.outputs) if (value) values.set(value.label, value);
  return values;
}

/** Of a sample, by input. */
type Dims = ReadonlyMap<string, readonly number[]>;

/** Of the first samples. */
async function dimsOf({ graph }: Model, data: DatasetRef, samples: number): Promise<Dims[]> {
  const dataset = await openDatasetRef(data, inputsOf(graph));
  const first = Array.from({ length: Math.min(samples, dataset.count) }, (_, i) => i);
  const all: Dims[] = [];
  for await (const { feeds } of dataset.samples(first)) {
    all.push(new Map([...feeds].map(([name, tensor]) => [name, tensor.dims])));
  }
  return all;
}

/** Writes the shapes that the first sample gives on the values of the main graph, as far as they can be inferred. */
export async function sizeBySample(
  model: Model,
  data: DatasetRef,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<void> {
  const [dims = new Map()] = await dimsOf(model, data, 1);
  await sizeByDims(model, dims, runtime, context);
}

async function sizeByDims(model: Model, dims: Dims, runtime: RuntimeConfig, context: RunContext): Promise<void> {
  const { inputs, outputs } = model.graph;
  for (const input of inputs) {
    const given = dims.get(input.label);
    if (!given) continue;
    // A sample that lies in its file without the batch axis gets one of size 1.
    const isBare = input.shape?.length === given.length + 1;
    input.type = { dtype: input.dtype, shape: isBare ? [1, ...given] : given };
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
