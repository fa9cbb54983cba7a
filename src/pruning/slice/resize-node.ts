/**
 * Sizes and numbers of positions that nodes are told, brought in line with units that are
 * gone: the counterpart of the rules that follow units (groups/rules).
 */
import { attr, fromFront, type Node, opsetOf, Tensor, type Value } from "../../ir/index.js";
import type { ChannelMap, UnitRow } from "../groups/channel-group.js";
import { type SliceRange, sliceRanges, splitRanges } from "../groups/rules/selection.js";
import { setSizes } from "./size-vector.js";

export type KeptAlong = (row: UnitRow) => readonly number[];

/**
 * Edits the copy of a node; `node` is the original, with the units that it reads and makes in `map`. What a node is told of
 * rows that keep all units stays as it is: there may be reversed slices and computed positions, which no rule follows.
 */
export function resizeNode(node: Node, copy: Node, map: ChannelMap, keptAlong: KeptAlong): void {
  if (node.domain !== "") return;
  const cutRows = (value: Value | null | undefined): UnitRow[] =>
    ((value && map.rows.get(value)) ?? []).filter((row) => keptAlong(row).length < row.sets.length);
  if (![...node.inputs, ...node.outputs].some((value) => cutRows(value).length > 0)) return;
  const read = cutRows(node.inputs[0]);
  const made = cutRows(node.output);
  const edit = Object.hasOwn(edits, node.op) ? edits[node.op] : null;
  edit?.({ node, copy, read, made, map, keptAlong });
}

interface Cut {
  readonly node: Node;
  readonly copy: Node;
  /** The rows of its first input and of its first output that lose units. */
  readonly read: readonly UnitRow[];
  readonly made: readonly UnitRow[];
  readonly map: ChannelMap;
  readonly keptAlong: KeptAlong;
}

const edits: Readonly<Record<string, (cut: Cut) => void>> = {
  Attention: (cut) => {
    setHeads(cut, "q_num_heads", 0);
    setHeads(cut, "kv_num_heads", 1);
  },
  Conv: (cut) => regroup(cut, "group"),
  ConvTranspose: (cut) => regroup(cut, "group"),
  Expand: expand,
  Gather: renumber,
  GroupNormalization: (cut) => regroup(cut, "num_groups"),
  Reshape: ({ copy, made, keptAlong }) => setSizes(copy, 1, sizesOf(made, 0, keptAlong)),
  Resize: resize,
  RotaryEmbedding: (cut) => setHeads(cut, "num_heads", 0),
  Slice: shiftSlice,
  Split: resplit,
};

/** New sizes by place in a vector that starts at axis `first`. */
const sizesOf = (rows: readonly UnitRow[], first: number, keptAlong: KeptAlong): Map<number, number> =>
  new Map(rows.flatMap((row) => (row.axis >= first ? [[row.axis - first, keptAlong(row).length] as const] : [])));

/** As many groups as are left, of the size that they had. */
function regroup({ node, copy, read, keptAlong }: Cut, name: string): void {
  const groups = node.int(name, 1);
  const row = read.find(({ axis }) => axis === 1);
  if (groups === 1 || !row) return;
  copy.graph.setAttribute(copy, name, attr.int((keptAlong(row).length * groups) / row.sets.length));
}

function setHeads({ node, copy, map, keptAlong }: Cut, name: string, input: number): void {
  const heads = node.int(name, 0);
  const row = map.rows.get(node.inputs[input]!)?.[0];
  if (heads === 0 || !row) return;
  copy.graph.setAttribute(copy, name, attr.int((keptAlong(row).length * heads) / row.sets.length));
}

function expand({ node, copy, made, keptAlong }: Cut): void {
  const length = node.inputs[1]?.shape?.[0] as number;
  setSizes(copy, 1, sizesOf(made, (node.output.shape?.length ?? 0) - length, keptAlong));
}

function resize({ node, copy, made, keptAlong }: Cut): void {
  if (!node.inputs[3]) return;
  const rank = node.output.shape!.length;
  const named = node.ints("axes")?.map((axis) => fromFront(axis, rank));
  const sizes = sizesOf(made, 0, keptAlong);
  const entryOf = (axis: number): number => (named ? named.indexOf(axis) : axis);
  const entries = [...sizes].map(([axis, size]) => [entryOf(axis), size] as const);
  setSizes(copy, 3, new Map(entries.filter(([entry]) => entry >= 0)));
}

/** The parts have the sizes of what is left in them; whether they were told before or not. */
function resplit({ node, copy, read, map, keptAlong }: Cut): void {
  const axis = axisOf(node, 0);
  const row = read.find((each) => each.axis === axis);
  const ranges = row && splitRanges(node, row.sets.length);
  if (!row || !ranges) return;
  const positions = keptAlong(row);
  const sizes = ranges.map(([start, end]) => countIn(positions, start, end));
  if (opsetOf(map.model) < 13) {
    copy.graph.setAttribute(copy, "split", attr.ints(sizes));
    return;
  }
  const vector = copy.graph.addConstant(`${node.output.label}_sizes`, Tensor.i64([sizes.length], sizes));
  copy.graph.setInput(copy, 1, vector);
  if (copy.attributes.has("num_outputs")) copy.graph.removeAttribute(copy, "num_outputs");
}

const countIn = (positions: readonly number[], start: number, end: number): number =>
  positions.filter((position) => position >= start && position < end).length;

const axisOf = (node: Node, input: number): number => {
  return fromFront(node.int("axis", 0), node.inputs[input]?.shape?.length ?? 0);
};

function shiftSlice({ node, copy, read, keptAlong }: Cut): void {
  const rank = node.inputs[0]!.shape!.length;
  const rowAt = (axis: number): UnitRow | undefined => read.find((row) => row.axis === axis);
  const ranges = sliceRanges(node, (axis) => rowAt(axis)?.sets.length ?? null, rank);
  if (!ranges?.some(({ axis }) => rowAt(axis))) return;
  const shifted = (name: string, input: number, end: (range: SliceRange) => number): void => {
    const given = node.inputs[input]?.constant?.bigints() ?? node.ints(name)!.map(BigInt);
    const changed = given.map((old, i) => {
      const row = rowAt(ranges[i]!.axis);
      return row ? BigInt(countIn(keptAlong(row), 0, end(ranges[i]!))) : old;
    });
    if (!node.inputs[input]) {
      copy.graph.setAttribute(copy, name, attr.ints(changed));
      return;
    }
    const dims = node.inputs[input].constant!.dims;
    // Starts, ends, axes and steps share their type.
    const tensor =
      node.inputs[input].dtype === "i32"
        ? Tensor.ofArray("i32", dims, Int32Array.from(changed, Number))
        : Tensor.i64(dims, changed);
    copy.graph.setInput(copy, input, copy.graph.addConstant(node.inputs[input].label, tensor));
  };
  shifted("starts", 1, ({ start }) => start);
  shifted("ends", 2, ({ end }) => end);
}

/** Positions that are left have other numbers; those that are gone are taken no more. */
function renumber({ node, copy, read, keptAlong }: Cut): void {
  const [, indices] = node.inputs;
  const row = read.find(({ axis }) => axis === axisOf(node, 0));
  if (!row || !indices) return;
  const positions = keptAlong(row);
  const numbers = indices
    .constant!.integers()!
    .map((index) => positions.indexOf(fromFront(index, row.sets.length)))
    .filter((index) => index >= 0);
  const dims = indices.constant!.dims.length === 0 ? [] : [numbers.length];
  const tensor =
    indices.dtype === "i32" ? Tensor.ofArray("i32", dims, Int32Array.from(numbers)) : Tensor.i64(dims, numbers);
  copy.graph.setInput(copy, 1, copy.graph.addConstant(indices.label, tensor));
}
