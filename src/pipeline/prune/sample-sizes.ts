/** What the first sample makes the values of a net measure: how many rows of what a layer sees. */
import type { DatasetRef } from "../../dataset/index.js";
import { isStatic, loadModel, type Value } from "../../ir/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { sizeBySample } from "../tap-groups.js";

/** Dimensions by the label of a value; those that the runtime cannot infer are missing. */
export type SampleSizes = ReadonlyMap<string, readonly number[]>;

/** @param path a model whose labels are distinct */
export async function sampleSizes(
  path: string,
  data: DatasetRef,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<SampleSizes> {
  const model = loadModel(path);
  await sizeBySample(model, data, runtime, context);
  const sizes = new Map<string, readonly number[]>();
  const note = (value: Value | null): void => {
    if (value && isStatic(value.shape)) sizes.set(value.label, value.shape);
  };
  for (const input of model.graph.inputs) note(input);
  for (const node of model.graph.nodes()) for (const value of node.outputs) note(value);
  return sizes;
}
