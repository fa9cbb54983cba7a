/**
 * Cuts units out of a model: the constants that have them, the sizes that nodes are told, and
 * the types of values. What goes in and comes out of the model stays as it is, and the
 * result is an ordinary dense model.
 */
import { invariant } from "../../base/errors.js";
import { bitsOf, elementCount, type Model, type Node, Tensor, type Value } from "../../ir/index.js";
import { copyGraph } from "../../rewrite/index.js";
import type { ChannelMap, Kept, SlicedModel, UnitRow } from "../groups/channel-group.js";
import { resizeNode } from "./resize-node.js";

export function sliceChannels(map: ChannelMap, kept: Kept): SlicedModel {
  const removed = removedSets(map, kept);
  const sliced = copyOf(map.model);
  if (removed.size === 0) return sliced;
  const keptAlong = ({ sets }: UnitRow): number[] => [...sets.keys()].filter((i) => !removed.has(sets[i]!));
  cutConstants(map, sliced.nodeOf, keptAlong);
  for (const [node, copy] of sliced.nodeOf) resizeNode(node, copy, map, keptAlong);
  for (const [value, rows] of map.rows) {
    const copy = sliced.valueOf.get(value)!;
    const shape = [...(copy.type?.shape ?? [])];
    for (const row of rows) shape[row.axis] = keptAlong(row).length;
    if (copy.type?.shape) copy.type = { dtype: copy.type.dtype, shape };
  }
  const { graph } = sliced.model;
  for (const constant of graph.constants) if (constant.useCount === 0) graph.removeConstant(constant);
  return sliced;
}

function removedSets(map: ChannelMap, kept: Kept): Set<number> {
  const removed = new Set<number>();
  for (const [group, units] of kept) {
    const sets = map.setsOf.get(group);
    invariant(sets, `${group.name} is no group of this model`);
    const stays = new Set(Array.from(units));
    invariant(stays.size > 0, `nothing is kept of ${group.name}`);
    const isWhole = stays.size === group.width;
    invariant(isWhole || group.frozen === null, `${group.name} cannot be cut: ${group.frozen}`);
    sets.forEach((set, unit) => void (stays.has(unit) || removed.add(set)));
  }
  return removed;
}

function copyOf(model: Model): SlicedModel {
  const values = new Map<Value, Value>();
  const graph = copyGraph(model.graph, values, true);
  const copies = [...graph.nodes()];
  const nodeOf = new Map([...model.graph.nodes()].map((node, i) => [node, copies[i]!]));
  return {
    model: { ...model, graph, opsets: new Map(model.opsets), functions: new Set(model.functions) },
    nodeOf,
    valueOf: values,
  };
}

/** Each reader gets its own cut; equal cuts of one constant stay one constant. */
function cutConstants(
  map: ChannelMap,
  nodeOf: ReadonlyMap<Node, Node>,
  keptAlong: (row: UnitRow) => readonly number[],
): void {
  const cuts = new Map<Node, Map<number, UnitRow[]>>();
  for (const { node, input, row } of map.constants) {
    const inputs = cuts.get(node) ?? new Map<number, UnitRow[]>();
    cuts.set(node, inputs);
    inputs.set(input, [...(inputs.get(input) ?? []), row]);
  }
  const made = new Map<string, Value>();
  const numberOf = new Map<Value, number>();
  for (const [node, inputs] of cuts) {
    for (const [input, rows] of inputs) {
      const value = node.inputs[input]!;
      const copy = nodeOf.get(node)!;
      const axes = rows.map((row) => ({ axis: row.axis, positions: keptAlong(row), size: row.sets.length }));
      const cut = axes.filter(({ positions, size }) => positions.length < size);
      if (cut.length === 0) continue;
      if (!numberOf.has(value)) numberOf.set(value, numberOf.size);
      const key = `${numberOf.get(value)} ${cut.map(({ axis, positions }) => `${axis}:${positions}`).join(" ")}`;
      const known = made.get(key);
      const tensor = (): Tensor =>
        cut.reduce((t, { axis, positions }) => cutTensor(t, axis, positions), value.constant!);
      const result = known ?? copy.graph.addConstant(value.label, tensor());
      made.set(key, result);
      copy.graph.setInput(copy, input, result);
    }
  }
}

/** The positions of a tensor along an axis that are named, in that order. */
function cutTensor(tensor: Tensor, axis: number, positions: readonly number[]): Tensor {
  const { dims, dtype } = tensor;
  const bytes = tensor.bytes();
  const inner = (elementCount(dims.slice(axis + 1)) * bitsOf(dtype)) / 8;
  const outer = elementCount(dims.slice(0, axis));
  const cut = new Uint8Array(outer * positions.length * inner);
  let to = 0;
  for (let o = 0; o < outer; o++) {
    const start = o * dims[axis]! * inner;
    for (const position of positions) {
      cut.set(bytes.subarray(start + position * inner, start + (position + 1) * inner), to);
      to += inner;
    }
  }
  return Tensor.fromBytes(dtype, dims.with(axis, positions.length), cut);
}
