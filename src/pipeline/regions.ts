/**
 * Regions: what the search moves between integers and float. Each is one node with weights
 * together with the nodes behind it that are integers only because it is (Add, Concat, pooling,
 * moves): leave the first in float, and the others follow by themselves.
 *
 * What a region costs is read from the runtime's own profile of both models. Names there
 * are those of nodes or of the values that they make, with what the runtime adds to them;
 * what it inserts between integers and float has no name, and belongs to the integers beside it.
 */
import { ownEntry } from "../base/own-entry.js";
import { type Model, type Node, nodesWithin, soleReader } from "../ir/index.js";
import { isLookUp } from "../quantization/embedding.js";
import type { NodeTime } from "../runtime/port.js";
import { weightInputs } from "../target/integer-kernels.js";

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
    const at = startsRegion(node) || before.length === 0 ? regions.push([]) - 1 : Math.max(...before);
    regions[at]!.push(node);
    regionAt.set(node, at);
  }
  return regions.map((nodes) => ({ name: nodes[0]!.name, nodes: nodes.map(({ name }) => name) }));
}

const startsRegion = (node: Node): boolean =>
  (node.domain === "" && ownEntry(weightInputs, node.op) !== undefined && readsWeights(node)) || isLookUp(node);

const readsWeights = (node: Node): boolean => weightInputs[node.op]!.some((index) => node.inputs[index]?.constant);

/** The integer node that a value comes from, an activation that its kernel absorbs aside. */
function integerBehind(producer: Node, integers: ReadonlySet<string>): Node | null {
  if (integers.has(producer.name)) return producer;
  const before = isAbsorbed(producer) ? producer.inputs[0]?.producer : null;
  return before && integers.has(before.name) ? before : null;
}

const isAbsorbed = (node: Node): boolean => node.is("Relu") || node.is("Clip");

export interface RegionTime {
  /** Of its nodes in float, and as integers with the conversions around them. */
  readonly beforeMs: number;
  readonly afterMs: number;
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
      if (reader && isAbsorbed(reader)) {
        own(reader.name, region);
        own(reader.outputs[0]?.label, region);
      }
    }
  }
  // A conversion to integers is named after what it reads, which a float node may have made.
  for (const { node, region } of nodes) for (const value of node.inputs) own(value?.label, region);

  const floats = sumByOwner(before, (name) => ownerOf(name, owners));
  const integers = sumByOwner(withConversions(after, owners), ({ owner }) => owner);
  return new Map(
    regions.map(({ name }) => [name, { beforeMs: floats.get(name) ?? 0, afterMs: integers.get(name) ?? 0 }]),
  );
}

/** Names lose what the runtime put behind them, one piece after the other, until one is known. */
function ownerOf({ name }: Pick<NodeTime, "name">, owners: ReadonlyMap<string, string>): string | null {
  let rest = name.replace(/^(\w+):(?=.)/, "").replace(/(_nchwc|_token_\d+|_quant|_fused)+$/, "");
  for (;;) {
    const owner = owners.get(rest);
    if (owner !== undefined) return owner;
    const cut = Math.max(rest.lastIndexOf("/"), rest.lastIndexOf("_"));
    if (cut <= 0 || !/^[/_](\w*Quantize\w*|MatMul\w*|Conv\w*|Cast|scale|Mul|Add|Gather|dequantized)$/.test(rest.slice(cut)))
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
    if (time.owner !== null || !/^(Transpose|ReorderInput|ReorderOutput)$/.test(time.op) || !isInserted(time)) return time;
    const isBehind = time.op === "ReorderInput" || (time.op === "Transpose" && !owned[i + 1]?.owner);
    return { ...time, owner: neighbour(i, isBehind ? -1 : 1) };
  });
}

/** The runtime names what it adds after the operator. */
const isInserted = ({ name, op }: NodeTime): boolean => name.startsWith(op);

function sumByOwner<T extends NodeTime>(
  times: readonly T[],
  ownerOfTime: (time: T) => string | null,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const time of times) {
    const owner = ownerOfTime(time);
    if (owner !== null) sums.set(owner, (sums.get(owner) ?? 0) + time.ms);
  }
  return sums;
}

/** What the runtime needs for each node besides its kernel. */
const PER_NODE_MS = 0.001;

/** Of a whole run. */
export const totalMs = (times: readonly NodeTime[]): number =>
  times.reduce((sum, { ms }) => sum + ms + PER_NODE_MS, 0);
