/** What a model with static integers takes by the target's table of kernels: nothing is run, and the same comes out each time. */
import { type Model, type Node, nodesWithin, soleReader } from "../ir/index.js";
import type { Form } from "../quantization/recipe.js";
import type { KernelTimes } from "../target/kernel-times.js";
import { bordersOf, isFused, type Region, type RegionTime } from "./regions.js";

export interface Estimate {
  /** By the name of the region. */
  readonly regions: ReadonlyMap<string, RegionTime>;
  /** Of all nodes in the table, all in float, and as they are. */
  readonly floatMs: number;
  readonly ownMs: number;
}

/**
 * What happens to a tensor between two kernels: it is converted to integers or back, and where both are convolutions
 * its layout changes too, since integer ones have channels last and float ones have them in blocks.
 */
export const conversionMs = (elements: number, isBetweenKernels: boolean): number =>
  (isBetweenKernels ? 2 : 1) * (0.002 + 0.3e-6 * elements);

/** @param elementsOf of a tensor, by its label; 0 where that is not known */
export function estimateTimes(
  model: Model,
  regions: readonly Region[],
  forms: ReadonlyMap<string, Form>,
  kernelTimes: KernelTimes,
  elementsOf: (label: string) => number,
): Estimate {
  const regionOf = new Map(regions.flatMap(({ name, nodes }) => nodes.map((node) => [node, name] as const)));
  const times = new Map(regions.map(({ name }) => [name, { beforeMs: 0, kernelMs: 0, conversionMs: 0 }]));
  let floatMs = 0;
  let ownMs = 0;
  for (const node of nodesWithin(model.graph)) {
    const time = kernelTimes(node, { read: elementsRead(node, elementsOf), made: elementsMade(node, elementsOf) });
    if (!time) continue;
    // Weights alone are widened when the model is loaded: the kernel is that of floats.
    const own = forms.get(node.name) === "static" ? time.integerMs : time.floatMs;
    floatMs += time.floatMs;
    ownMs += own;
    const region = times.get(regionOf.get(node.name) ?? "");
    if (!region) continue;
    region.beforeMs += time.floatMs;
    region.kernelMs += own;
  }
  const isStatic = (region: string | null): region is string => region !== null && forms.get(region) === "static";
  for (const { value, from, to } of bordersOf(model, regions)) {
    const inside = [from, to].filter(isStatic);
    if (inside.length !== 1) continue;
    const ms = conversionMs(elementsOf(value), from !== null && to !== null);
    times.get(inside[0]!)!.conversionMs += ms;
    ownMs += ms;
  }
  return { regions: times, floatMs, ownMs };
}

const elementsRead = ({ inputs }: Node, elementsOf: (label: string) => number): number =>
  Math.max(0, ...inputs.map((value) => (value && !value.constant ? elementsOf(value.label) : 0)));

/** Where an activation is part of the kernel, only what that makes was observed. */
function elementsMade({ output }: Node, elementsOf: (label: string) => number): number {
  const own = elementsOf(output.label);
  const reader = own > 0 ? null : soleReader(output);
  return reader && isFused(reader) ? elementsOf(reader.output.label) : own;
}
