/** What the room that weights take counts for, beside time. */
import type { Model, Node } from "../../ir/index.js";
import { isLookUp } from "../../quantization/embedding.js";
import { firstNodes } from "./estimated-times.js";
import type { Region, RegionTime } from "./regions.js";

/** All weights together are worth this share of the model's time as integers: they take a quarter of the room. */
const WEIGHTS_WORTH = 0.02;

/** Milliseconds that a region may lose as integers because its weights are smaller so. */
export function worthOfWeights(
  model: Model,
  regions: readonly Region[],
  times: ReadonlyMap<string, RegionTime>,
): (region: string) => number {
  const firstOf = firstNodes(model, regions);
  const elements = (region: string): number => weightOf(firstOf.get(region)!)?.constant?.elementCount ?? 0;
  let [all, ms] = [0, 0];
  for (const { name } of regions) {
    all += elements(name);
    ms += times.get(name)!.beforeMs;
  }
  return (region) => (all > 0 ? (WEIGHTS_WORTH * ms * elements(region)) / all : 0);
}

const weightOf = (node: Node) => node.inputs[isLookUp(node) ? 0 : 1];
