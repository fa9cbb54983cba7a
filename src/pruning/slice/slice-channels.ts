/**
 * Cuts units out of a model: the constants that have them, the sizes that nodes are told, and
 * the types of values. A residual branch of which no unit is kept goes as a whole. What goes in and comes out of the model
 * stays as it is, and the result is an ordinary dense model.
 */
import { invariant } from "../../base/errors.js";
import { type Model, type Node, type Tensor, taken, type Value } from "../../ir/index.js";
import { copyGraph, removeWithFeeders } from "../../rewrite/index.js";
import type { ChannelGroup, ChannelMap, Kept, SlicedModel, UnitRow } from "../groups/channel-group.js";
import { residualBranches } from "../groups/residual-branches.js";
import { resizeNode } from "./resize-node.js";

/** @param kept of groups that `residualBranches` has, none may be: their branches go */
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
  const dropped = map.groups.filter((group) => kept.get(group)?.length === 0);
  if (dropped.length > 0) dropBranches(map, dropped, sliced);
  for (const constant of graph.constants) if (constant.useCount === 0) graph.removeConstant(constant);
  return sliced;
}

function removedSets(map: ChannelMap, kept: Kept): Set<number> {
  const removed = new Set<number>();
  for (const [group, units] of kept) {
    const sets = map.setsOf.get(group);
    invariant(sets, `${group.name} is no group of this model`);
    // A branch that goes is cut to one unit first.
    const stays = new Set(units.length === 0 ? [0] : Array.from(units));
    const isWhole = stays.size === group.width;
    invariant(isWhole || group.frozen === null, `${group.name} cannot be cut: ${group.frozen}`);
    sets.forEach((set, unit) => void (stays.has(unit) || removed.add(set)));
  }
  return removed;
}

function dropBranches(map: ChannelMap, groups: readonly ChannelGroup[], sliced: Copied): void {
  const { nodeOf, valueOf: copies } = sliced;
  const branches = residualBranches(map);
  const order = new Map([...map.model.graph.nodes()].map((node, i) => [node, i]));
  const dropped = groups.map((group) => {
    const branch = branches.get(group);
    invariant(branch, `nothing is kept of ${group.name}`);
    return branch;
  });
  const originals = new Map([...nodeOf].map(([node, copy]) => [copy, node]));
  // From front to back: what stays of one sum may be another one that goes.
  for (const { sum, stay } of dropped.sort((a, b) => order.get(a.sum)! - order.get(b.sum)!)) {
    const copy = nodeOf.get(sum);
    if (!copy) continue;
    const left = copies.get(stay)!;
    copy.graph.replaceUses(copy.output, left);
    for (const removed of removeWithFeeders(copy)) {
      const original = originals.get(removed)!;
      nodeOf.delete(original);
      for (const value of original.outputs) if (value) copies.delete(value);
    }
    copies.set(sum.output, left);
  }
}

/** A sliced model on the way. */
interface Copied extends SlicedModel {
  readonly nodeOf: Map<Node, Node>;
  readonly valueOf: Map<Value, Value>;
}

function copyOf(model: Model): Copied {
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
      const tensor = (): Tensor => cut.reduce((t, { axis, positions }) => taken(t, axis, positions), value.constant!);
      const result = known ?? copy.graph.addConstant(value.label, tensor());
      made.set(key, result);
      copy.graph.setInput(copy, input, result);
    }
  }
}
