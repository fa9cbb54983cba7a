/** Operators that move positions along, or repeat what lies at them, without choosing among them. */
import { fromFront, type Node } from "../../../ir/index.js";
import { constantIntegers, isKnown } from "../../../rewrite/match.js";
import { isSizeSettable } from "../../slice/size-vector.js";
import { renumbered, rowOf } from "../block.js";
import type { Rule } from "../unit-trace.js";

export const transpose: Rule = (node, trace) => {
  const rank = node.inputs[0]?.shape?.length;
  if (rank === undefined) return `the shape that ${node.displayName} reads is not known`;
  const order = node.ints("perm") ?? Array.from({ length: rank }, (_, i) => rank - 1 - i);
  trace.give(
    node.output,
    trace.of(node.inputs[0]).map((block) => renumbered(block, (axis) => order.indexOf(axis))),
  );
  return null;
};

/** Sizes of 1 become larger ones; others stay, in front of which new axes may come. */
export const expand: Rule = (node, trace) => {
  const [value, target] = node.inputs;
  const [from, to] = [value?.shape, node.output.shape];
  if (!from || !to) return `the shapes of ${node.displayName} are not known`;
  const shift = to.length - from.length;
  const blocks = trace.of(value).map((block) => ({ ...block, axes: block.axes.map((axis) => axis + shift) }));
  for (const { axes, dims } of blocks) {
    if (axes.some((axis, i) => to[axis] !== dims[i])) return `${node.displayName} repeats it`;
    const length = target?.shape?.[0];
    if (typeof length !== "number") return `the shape that ${node.displayName} makes is computed`;
    // The vector may be shorter than the result, and is aligned at its end.
    const entries = axes.map((axis) => axis - (to.length - length)).filter((entry) => entry >= 0);
    if (!entries.every((entry) => isSizeSettable(target, entry)))
      return `the shape that ${node.displayName} makes is computed`;
  }
  trace.give(node.output, blocks);
  return null;
};

export const tile: Rule = (node, trace) => {
  const repeats = constantIntegers(node.inputs[1]);
  const blocks = trace.of(node.inputs[0]);
  if (!blocks.every(({ axes }) => axes.every((axis) => repeats?.[axis] === 1))) return `${node.displayName} repeats it`;
  trace.give(node.output, blocks);
  return null;
};

/** Along the axes of units the size has to stay, whichever way it is said. */
export const resize: Rule = (node, trace) => {
  const value = node.inputs[0];
  const [from, to] = [value?.shape, node.output.shape];
  const blocks = trace.of(value);
  if (!from || !to || node.string("coordinate_transformation_mode", "half_pixel") === "tf_crop_and_resize")
    return `${node.displayName} cannot be followed`;
  const [scales, sizes] = node.op === "Upsample" ? [node.inputs[1], null] : [node.inputs[2], node.inputs[3]];
  const named = node.ints("axes");
  for (const axis of blocks.flatMap(({ axes }) => axes)) {
    const entry = named ? named.map((each) => fromFront(each, from.length)).indexOf(axis) : axis;
    if (entry < 0) continue;
    if (node.string("keep_aspect_ratio_policy", "stretch") !== "stretch") return `${node.displayName} resizes it`;
    if (!isKnown(from[axis]) || from[axis] !== to[axis]) return `${node.displayName} resizes it`;
    const isSettable = sizes
      ? isSizeSettable(sizes, entry)
      : scales?.constant?.toF32()?.[entry] === 1 || node.attributes.has("scales");
    if (!isSettable) return `the size that ${node.displayName} makes is computed`;
  }
  trace.give(node.output, blocks);
  return null;
};

/** [N, C, H, W] -> [N, C / b^2, H b, W b]: a channel of the result comes from b^2 of them. */
export const depthToSpace: Rule = (node, trace) => {
  const size = node.int("blocksize", 1) ** 2;
  const blocks = trace.of(node.inputs[0]);
  const read = trace.rowAt(blocks, 1, `${node.displayName} moves it`);
  if (!read || blocks.length > 1 || read.length % size !== 0) return `${node.displayName} moves it`;
  const count = read.length / size;
  const isRowMajor = node.string("mode", "DCR") === "DCR";
  const made = trace.sets.add(count);
  for (const [i, id] of read.entries()) trace.sets.join(made[isRowMajor ? i % count : Math.floor(i / size)]!, id);
  trace.give(node.output, [rowOf(1, made)]);
  return null;
};

/** [N, C, H, W] -> [N, C b^2, H / b, W / b], all channels for each place of a block in turn. */
export const spaceToDepth: Rule = (node, trace) => {
  const size = node.int("blocksize", 1) ** 2;
  const blocks = trace.of(node.inputs[0]);
  const read = trace.rowAt(blocks, 1, `${node.displayName} moves it`);
  if (!read || blocks.length > 1) return `${node.displayName} moves it`;
  const ids = Int32Array.from({ length: read.length * size }, (_, i) => read[i % read.length]!);
  trace.give(node.output, [rowOf(1, ids)]);
  return null;
};

/** Sizes are read: harmless as long as nobody asks for one that may change. */
export const shapeOf: Rule = (node, trace) => {
  const rank = node.inputs[0]?.shape?.length;
  const axes = trace.of(node.inputs[0]).flatMap((block) => block.axes);
  if (axes.length === 0) return null;
  if (rank === undefined || node.op === "Size") return `${node.displayName} reads its size`;
  const at = (index: number): number => Math.min(rank, Math.max(0, fromFront(index, rank)));
  const [start, end] = [at(node.int("start", 0)), at(node.int("end", rank))];
  const readers = node.output.uses.map((use) => (use.kind === "input" ? use : null));
  for (const axis of axes) {
    if (axis < start || axis >= end) continue;
    const isUnread = readers.every((use) => use && picks(use.node, use.index, axis - start, end - start) === false);
    if (!isUnread) return `${node.displayName} reads its size`;
  }
  return null;
};

/** Whether a Gather or Slice of a vector takes the entry at `index`; null where that is not known. */
function picks(node: Node, input: number, index: number, length: number): boolean | null {
  const at = (position: number): number => Math.min(length, Math.max(0, fromFront(position, length)));
  if (input !== 0) return null;
  if (node.is("Gather")) {
    const indices = constantIntegers(node.inputs[1]);
    return indices ? indices.some((each) => at(each) === index) : null;
  }
  if (!node.is("Slice") || !node.inputs[1]) return null;
  const [starts, ends, steps] = [1, 2, 4].map((each) => constantIntegers(node.inputs[each]));
  if (starts?.length !== 1 || ends?.length !== 1 || (node.inputs[4] && steps?.[0] !== 1)) return null;
  return index >= at(starts[0]!) && index < at(ends[0]!);
}
