/**
 * The positions of a value along one axis, or along several at once: a Reshape from
 * [N, heads * size] to [N, heads, size] leaves every position what it was, so that the
 * same row of ids now lies in two axes, and whoever reads it decides which of them counts.
 * In the end every block must lie along one axis only, since what remains of a value
 * has to be a tensor again.
 */
import { elementCount } from "../../ir/index.js";
import type { UnitSets } from "./unit-sets.js";

export interface Block {
  /** Ascending. */
  readonly axes: readonly number[];
  readonly dims: readonly number[];
  /** In row-major order of `axes`. */
  readonly ids: Int32Array;
}

export const rowOf = (axis: number, ids: Int32Array): Block => ({ axes: [axis], dims: [ids.length], ids });

export const blockAt = (blocks: readonly Block[], axis: number): Block | null =>
  blocks.find(({ axes }) => axes.includes(axis)) ?? null;

/** The same block under other numbers of its axes. */
export function renumbered({ axes, dims, ids }: Block, axisOf: (axis: number) => number): Block {
  const renamed = axes.map(axisOf);
  const order = renamed.map((_, i) => i).sort((a, b) => renamed[a]! - renamed[b]!);
  const sorted = order.map((i) => renamed[i]!);
  if (order.every((i, at) => i === at)) return { axes: sorted, dims, ids };
  const newDims = order.map((i) => dims[i]!);
  const strides = stridesOf(dims);
  const moved = new Int32Array(ids.length);
  forEachPlace(newDims, (place, at) => {
    moved[at] = ids[order.reduce((sum, i, k) => sum + place[k]! * strides[i]!, 0)]!;
  });
  return { axes: sorted, dims: newDims, ids: moved };
}

/** Positions along one axis of a block picked out, in the order given. */
export function picked(block: Block, axis: number, positions: readonly number[]): Block {
  const at = block.axes.indexOf(axis);
  const inner = elementCount(block.dims.slice(at + 1));
  const outer = elementCount(block.dims.slice(0, at));
  const from = block.dims[at]!;
  const ids = new Int32Array(outer * positions.length * inner);
  let to = 0;
  for (let o = 0; o < outer; o++) {
    for (const position of positions) {
      const start = (o * from + position) * inner;
      ids.set(block.ids.subarray(start, start + inner), to);
      to += inner;
    }
  }
  return { axes: block.axes, dims: block.dims.with(at, positions.length), ids };
}

/** A block without one of its axes, of which the first position is taken. */
export function dropped(block: Block, axis: number): Block {
  const { axes, dims, ids } = picked(block, axis, [0]);
  const at = axes.indexOf(axis);
  return { axes: axes.toSpliced(at, 1), dims: dims.toSpliced(at, 1), ids };
}

/** Says that along one axis of a block all or nothing goes; what remains of the block, or null when that was all of it. */
export function fixedAlong(block: Block, axis: number, sets: UnitSets, reason: string): Block | null {
  if (block.axes.length === 1) {
    sets.freezeAll(block.ids, reason);
    return null;
  }
  const rest = dropped(block, axis);
  for (let i = 1; i < block.dims[block.axes.indexOf(axis)]!; i++) {
    sets.joinEach(rest.ids, picked(block, axis, [i]).ids);
  }
  return rest;
}

/** Puts blocks behind one another along an axis of them; they agree in everything else. */
export function stacked(blocks: readonly Block[], axis: number): Block {
  const [{ axes, dims }] = blocks as [Block];
  const at = axes.indexOf(axis);
  const outer = elementCount(dims.slice(0, at));
  const sizes = blocks.map((block) => block.ids.length / outer);
  const ids = new Int32Array(outer * sizes.reduce((a, b) => a + b, 0));
  let to = 0;
  for (let o = 0; o < outer; o++) {
    blocks.forEach((block, k) => {
      ids.set(block.ids.subarray(o * sizes[k]!, (o + 1) * sizes[k]!), to);
      to += sizes[k]!;
    });
  }
  const length = blocks.reduce((sum, block) => sum + block.dims[at]!, 0);
  return { axes, dims: dims.with(at, length), ids };
}

/** The axes along which a block's ids differ; those that are left say it all. */
export function withoutIdleAxes(block: Block): Block {
  let slim = block;
  for (const axis of block.axes) {
    if (slim.axes.length === 1) break;
    const at = slim.axes.indexOf(axis);
    const first = picked(slim, axis, [0]).ids;
    const isIdle = Array.from({ length: slim.dims[at]! }, (_, i) => i).every((i) =>
      picked(slim, axis, [i]).ids.every((id, k) => id === first[k]),
    );
    if (isIdle) slim = dropped(slim, axis);
  }
  return slim;
}

export const sameAxes = (a: Block, b: Block): boolean =>
  a.axes.length === b.axes.length && a.axes.every((axis, i) => axis === b.axes[i]);

export function stridesOf(dims: readonly number[]): number[] {
  const strides = new Array<number>(dims.length).fill(1);
  for (let i = dims.length - 2; i >= 0; i--) strides[i] = strides[i + 1]! * dims[i + 1]!;
  return strides;
}

/** Every place of a tensor of these dimensions in row-major order, with its flat position. */
export function forEachPlace(dims: readonly number[], visit: (place: readonly number[], at: number) => void): void {
  const place = new Array<number>(dims.length).fill(0);
  const count = elementCount(dims);
  for (let at = 0; at < count; at++) {
    visit(place, at);
    for (let axis = dims.length - 1; axis >= 0 && ++place[axis]! === dims[axis]; axis--) place[axis] = 0;
  }
}
