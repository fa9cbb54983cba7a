/**
 * Regions: what the search moves between integers and float. Each is one node with weights, or one that something is converted for,
 * together with the nodes behind it that are integers only because it is (Add, Concat, pooling,
 * moves): leave the first in float, and the others follow by themselves.
 *
 * What a region costs is read from the runtime's own profile of both models. Names there
 * are those of nodes or of the values that they make, with what the runtime adds to them;
 * what it inserts between integers and float has no name, and belongs to the integers beside it.
 */
import { ownEntry } from "../../base/own-entry.js";
import { type Model, type Node, nodesWithin, soleReader, type Value } from "../../ir/index.js";
import { isLookUp } from "../../quantization/embedding.js";
import { isConvertible } from "../../quantization/plan-static.js";
import { productWeight } from "../../quantization/product-weight.js";
import type { NodeTime } from "../../runtime/port.js";
import { weightInputs } from "../../target/integer-kernels.js";
import { writtenName } from "../output/written-name.js";

export interface Region {
  /** The node that makes the others integers. */
  readonly name: string;
  /** In execution order, the first of them among them. */
  readonly nodes: readonly string[];
}

/** Regions of the nodes that a candidate has as integers, in execution order; every such node is in one. */
export function regionsOf({ graph }: Model, integers: ReadonlySet<string>): readonly Region[] {
  const regions: Node[][] = [];
  const regionAt = new Map<Node, number>();
  for (const node of nodesWithin(graph)) {
    if (!integers.has(node.name)) continue;
    const before = node.inputs.flatMap((value) => {
      const producer = value?.producer && integerBehind(value.producer, integers);
      return producer ? (regionAt.get(producer) ?? []) : [];
    });
    const isStart = startsRegion(node) || before.length === 0 || readsFloats(node, integers);
    const at = isStart ? regions.push([]) - 1 : Math.max(...before);
    regions[at]!.push(node);
    regionAt.set(node, at);
  }
  return regions.map((nodes) => ({ name: nodes[0]!.name, nodes: nodes.map(({ name }) => name) }));
}

/** Whether it has weights: what is beside it may be integers because it is. */
export const startsRegion = (node: Node): boolean =>
  (node.domain === "" && ownEntry(weightInputs, node.op) !== undefined && readsWeights(node)) || isLookUp(node);

/** Neighbours that something is converted for, of the nodes that a candidate has as integers. */
export const besideFloats = ({ graph }: Model, integers: ReadonlySet<string>): readonly Node[] =>
  [...nodesWithin(graph)].filter(
    (node) => integers.has(node.name) && !startsRegion(node) && readsFloats(node, integers),
  );

/** Whether an activation is converted for a neighbour, which no product reads as integers: it might as well be in float. */
const readsFloats = (node: Node, integers: ReadonlySet<string>): boolean =>
  node.inputs.some(
    (value) =>
      value !== null &&
      isConvertible(value) &&
      !(value.producer && integerBehind(value.producer, integers)) &&
      !value.uses.some((use) => use.kind === "input" && integers.has(use.node.name) && startsRegion(use.node)),
  );

const readsWeights = (node: Node): boolean =>
  productWeight(node) !== null || weightInputs[node.op]!.some((index) => node.inputs[index]?.constant);

/** The integer node that a value comes from, an activation that its kernel absorbs aside. */
function integerBehind(producer: Node, integers: ReadonlySet<string>): Node | null {
  if (integers.has(producer.name)) return producer;
  const before = isAbsorbed(producer) ? producer.inputs[0]?.producer : null;
  return before && integers.has(before.name) ? before : null;
}

/** Integer kernels compute it too: it is where their range begins and ends. */
export const isAbsorbed = (node: Node): boolean => node.is("Relu") || node.is("Clip");

/** What float kernels compute besides: the node goes by the name of what it then makes. */
export const isFused = (node: Node): boolean =>
  isAbsorbed(node) || /^(Sigmoid|Tanh|LeakyRelu|HardSigmoid|HardSwish)$/.test(node.opName);

const kernelBehind = (producer: Node | null): Node | null =>
  producer && isFused(producer) ? (producer.inputs[0]?.producer ?? producer) : producer;

/** A tensor that is converted where its two ends are not both integers. */
export interface Border {
  readonly value: string;
  /** Names of regions; null for what stays float. */
  readonly from: string | null;
  readonly to: string | null;
  /** What computes it, an activation aside; null for an input. */
  readonly maker: Node | null;
  /** On the side of `to`. */
  readonly readers: readonly Node[];
}

/** A tensor with all that read it beyond the region that it comes from: it is converted once for all of them. */
export interface TensorBetween extends Pick<Border, "value" | "from" | "maker"> {
  readonly ends: readonly Border[];
}

export function tensorsBetween(borders: readonly Border[]): readonly TensorBetween[] {
  const tensors = new Map<string, TensorBetween & { readonly ends: Border[] }>();
  for (const border of borders) {
    const known = tensors.get(border.value);
    if (known) known.ends.push(border);
    else tensors.set(border.value, { value: border.value, from: border.from, maker: border.maker, ends: [border] });
  }
  return [...tensors.values()];
}

/** What being integers saves; less than nothing where it costs. */
export const savedMs = ({ beforeMs, kernelMs, conversionMs }: RegionTime): number => beforeMs - kernelMs - conversionMs;

/** Where regions meet each other and what is float. */
export function bordersOf({ graph }: Model, regions: readonly Region[]): readonly Border[] {
  const integers = new Set(regions.flatMap(({ nodes }) => nodes));
  const regionOf = new Map(regions.flatMap(({ name, nodes }) => nodes.map((node) => [node, name] as const)));
  const borders = new Map<string, Border & { readonly readers: Node[] }>();
  const add = (value: Value, from: string | null, to: string | null, reader: Node): void => {
    if (from === to) return;
    const key = `${value.label}\n${from}\n${to}`;
    const known = borders.get(key);
    if (known) known.readers.push(reader);
    else borders.set(key, { value: value.label, from, to, maker: kernelBehind(value.producer), readers: [reader] });
  };
  for (const node of nodesWithin(graph)) {
    const to = regionOf.get(node.name) ?? null;
    // An activation that a kernel absorbs is no border between it and that kernel.
    if (to === null && node.inputs[0]?.producer && integerBehind(node, integers)) continue;
    for (const value of node.inputs) {
      if (!value || value.constant) continue;
      const producer = value.producer && integerBehind(value.producer, integers);
      add(value, (producer && regionOf.get(producer.name)) ?? null, to, node);
    }
  }
  return [...borders.values()];
}

export interface RegionTime {
  /** Of its nodes in float. */
  readonly beforeMs: number;
  /** As integers, and of the conversions around them. */
  readonly kernelMs: number;
  readonly conversionMs: number;
}

/** What each region takes in both models, by its name. */
export function regionTimes(
  { graph }: Model,
  regions: readonly Region[],
  before: readonly NodeTime[],
  after: readonly NodeTime[],
): ReadonlyMap<string, RegionTime> {
  const owners = new Map<string, string>();
  const own = (label: string | undefined, region: string): void => {
    if (label !== undefined && label !== "" && !owners.has(label)) owners.set(label, region);
  };
  const regionOf = new Map(regions.flatMap(({ name, nodes }) => nodes.map((node) => [node, name] as const)));
  const nodes = [...nodesWithin(graph)].flatMap((node) => {
    const region = regionOf.get(node.name);
    return region === undefined ? [] : [{ node, region }];
  });
  for (const { node, region } of nodes) {
    own(node.name, region);
    for (const value of node.outputs) {
      own(value?.label, region);
      const reader = value && soleReader(value);
      if (reader && isFused(reader) && !regionOf.has(reader.name)) {
        own(reader.name, region);
        own(reader.outputs[0]?.label, region);
      }
    }
  }
  // A conversion to integers is named after what it reads, which a float node may have made.
  for (const { node, region } of nodes) for (const value of node.inputs) own(value?.label, region);

  const times = new Map(regions.map(({ name }) => [name, { beforeMs: 0, kernelMs: 0, conversionMs: 0 }]));
  for (const time of before) {
    const owner = ownerOf(time, owners);
    if (owner !== null) times.get(owner)!.beforeMs += time.ms;
  }
  for (const time of withConversions(after, owners)) {
    if (time.owner !== null) times.get(time.owner)![isConversion(time) ? "conversionMs" : "kernelMs"] += time.ms;
  }
  return times;
}

const isConversion = (time: NodeTime): boolean =>
  /^(Quantize|Dequantize)Linear$/.test(time.op) ||
  (/^(Transpose|ReorderInput|ReorderOutput)$/.test(time.op) && isInserted(time));

/** Names lose what the runtime put behind them, one piece after the other, until one is known. */
function ownerOf({ name }: Pick<NodeTime, "name">, owners: ReadonlyMap<string, string>): string | null {
  let rest = writtenName(name);
  for (;;) {
    const owner = owners.get(rest);
    if (owner !== undefined) return owner;
    const cut = rest.lastIndexOf("/");
    if (
      cut <= 0 ||
      !/^\/(\w*[Qq]uantize\w*|MatMul\w*|Conv\w*|Cast|scale|wide|Mul|Add|Sub|Gather|Bit\w+|Concat|blocks|rows|pooled|Clip|Reshape|(Transpose|Reshape|Concat|Unsqueeze)_\w+|Slice|Shape|Div)$/.test(
        rest.slice(cut),
      )
    )
      return null;
    rest = rest.slice(0, cut);
  }
}

interface Owned extends NodeTime {
  readonly owner: string | null;
}

/** Each with its region, those conversions too that the runtime put there: into float behind one, out of float before one. */
function withConversions(times: readonly NodeTime[], owners: ReadonlyMap<string, string>): readonly Owned[] {
  const owned = times.map((time) => ({ ...time, owner: ownerOf(time, owners) }));
  const neighbour = (at: number, step: 1 | -1): string | null => {
    for (let i = at + step; i >= 0 && i < owned.length; i += step) if (owned[i]!.owner) return owned[i]!.owner;
    return null;
  };
  return owned.map((time, i) => {
    if (time.owner !== null || !/^(Transpose|ReorderInput|ReorderOutput)$/.test(time.op) || !isInserted(time))
      return time;
    const isBehind = time.op === "ReorderInput" || (time.op === "Transpose" && !owned[i + 1]?.owner);
    return { ...time, owner: neighbour(i, isBehind ? -1 : 1) };
  });
}

/** The runtime names what it adds after the operator. */
const isInserted = ({ name, op }: NodeTime): boolean => name.startsWith(op);

/** Converting one element to integers or back, with the change of layout that comes with it. */
export const MS_PER_CONVERTED_ELEMENT = 0.8e-6;

/** What the runtime needs for each node besides its kernel. */
const PER_NODE_MS = 0.001;

/** Of a whole run. */
export const totalMs = (times: readonly NodeTime[]): number => times.reduce((sum, { ms }) => sum + ms + PER_NODE_MS, 0);
