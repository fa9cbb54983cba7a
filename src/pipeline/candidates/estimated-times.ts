/** What a model with static integers takes by the target's table of kernels: nothing is run, and the same comes out each time. */
import { type Model, type Node, nodesWithin, soleReader } from "../../ir/index.js";
import { ChannelsFirst } from "../../quantization/channels-first.js";
import type { Form } from "../../quantization/form.js";
import type { KernelTimes } from "../../target/kernel-times.js";
import { bordersOf, isAbsorbed, isFused, type Region, type RegionTime, tensorsBetween } from "./regions.js";

export interface Estimate {
  /** By the name of the region. */
  readonly regions: ReadonlyMap<string, RegionTime>;
  /** Of all nodes in the table, all in float, and as they are. */
  readonly floatMs: number;
  readonly ownMs: number;
}

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
  const weights = weightElements(model);
  const leftOutMs = ({ output }: Node, made: number): number => {
    const reader = soleReader(output);
    const isLeftOut = reader && isFused(reader) && !isAbsorbed(reader) && !forms.has(reader.name);
    return isLeftOut ? kernelTimes.activationMs(reader, made || elementsOf(output.label)) : 0;
  };
  const channelsFirst = new ChannelsFirst();
  let floatMs = 0;
  let ownMs = 0;
  for (const node of nodesWithin(model.graph)) {
    const operands = operandsRead(node, elementsOf);
    const read = Math.max(0, ...operands);
    const least = Math.min(read, ...operands);
    const made = elementsMade(node, elementsOf);
    const isInteger = forms.get(node.name) === "static";
    channelsFirst.add(node, isInteger);
    const isFirst = channelsFirst.has(node.inputs[0]);
    const time = kernelTimes.node(node, { read, least, made, weights, channelsFirst: isFirst });
    if (!time) continue;
    // Weights alone are widened when the model is loaded: the kernel is that of floats.
    const own = isInteger ? time.integerMs + leftOutMs(node, made) : time.floatMs;
    floatMs += time.floatMs;
    ownMs += own;
    const region = times.get(regionOf.get(node.name) ?? "");
    if (!region) continue;
    region.beforeMs += time.floatMs;
    region.kernelMs += own;
  }
  const isStatic = (region: string | null): boolean => region !== null && forms.get(region) === "static";
  const firstOf = firstNodes(model, regions);
  const pay = (region: string, value: string, floats: readonly Node[]): void => {
    const ms = kernelTimes.conversionMs(elementsOf(value), firstOf.get(region)!, floats);
    times.get(region)!.conversionMs += ms;
    ownMs += ms;
  };
  for (const { value, from, maker, ends } of tensorsBetween(bordersOf(model, regions))) {
    const floats = ends.filter(({ to }) => !isStatic(to));
    const integers = ends.filter(({ to }) => isStatic(to));
    if (isStatic(from) && floats.length > 0)
      pay(
        from!,
        value,
        floats.flatMap(({ readers }) => readers),
      );
    else if (!isStatic(from) && integers.length > 0) pay(integers[0]!.to!, value, maker ? [maker] : []);
  }
  return { regions: times, floatMs, ownMs };
}

/** The node that makes a region integers, by the region's name. */
export function firstNodes(model: Model, regions: readonly Region[]): ReadonlyMap<string, Node> {
  const names = new Set(regions.map(({ name }) => name));
  return new Map(
    [...nodesWithin(model.graph)].flatMap((node) => (names.has(node.name) ? [[node.name, node] as const] : [])),
  );
}

/** Elements of all constants. */
function weightElements({ graph }: Model): number {
  let elements = 0;
  for (const { constant } of graph.constants) elements += constant?.elementCount ?? 0;
  return elements;
}

/** Elements of each activation that a node reads. */
const operandsRead = ({ inputs }: Node, elementsOf: (label: string) => number): readonly number[] =>
  inputs.flatMap((value) => (value && !value.constant ? [elementsOf(value.label)] : []));

/** Where an activation is part of the kernel, only what that makes was observed. */
function elementsMade({ output }: Node, elementsOf: (label: string) => number): number {
  const own = elementsOf(output.label);
  const reader = own > 0 ? null : soleReader(output);
  return reader && isFused(reader) ? elementsOf(reader.output.label) : own;
}
