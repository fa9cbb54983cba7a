/**
 * Reshapes in any form. Sizes in front that agree, and products of sizes that agree from
 * the end, divide both shapes into sections that hold the same elements in the same order:
 *
 *   [N, C, H, W]       -> [N, C * H * W]         (N) (C, H, W | C * H * W)
 *   [B, S, heads * d]  -> [B, S, heads, d]       (B) (S) (heads * d | heads, d)
 *
 * A block spreads over the sizes of the other side of its sections.
 */
import { type Dim, elementCount, fromFront, isStatic, type Node, type Shape } from "../../../ir/index.js";
import { isSameDim } from "../../../rewrite/match.js";
import { isSizeSettable, sizeIn } from "../../slice/size-vector.js";
import { type Block, blockAt, forEachPlace, stridesOf, withoutIdleAxes } from "../block.js";
import type { Rule } from "../unit-trace.js";

interface Section {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** More ids than this are not spread out. */
const MOST_IDS = 1 << 22;

export const reshape: Rule = (node, trace) => {
  const blocks = trace.of(node.inputs[0]);
  const input = completed(node.inputs[0]?.shape, (axis) => sizeOf(blocks, axis));
  const output = completed(node.output.shape, (axis) => (node.is("Reshape") ? sizeIn(node.inputs[1], axis) : null));
  if (!input || !output) return `the shapes of ${node.displayName} are not known`;
  const copied = copiedAxes(node, input.length);
  const sections = sectionsOf(input, output, copied);
  for (const axis of copied) {
    const isOwn = sections.some(({ from, to }) => from.length === 1 && from[0] === axis && to[0] === axis);
    if (!isOwn && blockAt(blocks, axis)) return `${node.displayName} copies its size`;
  }
  const spread: Block[] = [];
  for (const block of blocks) {
    const touched = sections.filter(({ from }) => from.some((axis) => block.axes.includes(axis)));
    const isCrowded = blocks.some(
      (other) => other !== block && touched.some(({ from }) => from.some((axis) => other.axes.includes(axis))),
    );
    const result = isCrowded ? null : spreadOver(block, touched, input, output);
    if (!result) return `${node.displayName} turns ${shown(input)} into ${shown(output)}`;
    if (node.is("Reshape") && !result.axes.every((axis) => isSizeSettable(node.inputs[1], axis)))
      return `the shape that ${node.displayName} makes is computed`;
    spread.push(result);
  }
  trace.give(node.output, spread);
  return null;
};

/** A shape with sizes that type inference does not know. */
const completed = (shape: Shape | null | undefined, sizeAt: (axis: number) => number | null): Shape | null =>
  shape?.map((dim, axis) => {
    const size = dim === null ? sizeAt(axis) : null;
    return size !== null && size > 0 ? size : dim;
  }) ?? null;

function sizeOf(blocks: readonly Block[], axis: number): number | null {
  const block = blockAt(blocks, axis);
  return block ? block.dims[block.axes.indexOf(axis)]! : null;
}

const shown = (shape: Shape): string => `[${shape.map((dim) => dim ?? "?").join(",")}]`;

/** Axes whose size a Reshape copies, by a 0 in the shape that it is told. */
function copiedAxes(node: Node, rank: number): ReadonlySet<number> {
  if (!node.is("Reshape") || node.int("allowzero", 0) !== 0) return new Set();
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  return new Set(axes.filter((axis) => sizeIn(node.inputs[1], axis) === 0));
}

function sectionsOf(from: Shape, to: Shape, copied: ReadonlySet<number>): Section[] {
  const front: Section[] = [];
  let start = 0;
  const isSame = (i: number): boolean => copied.has(i) || isSameDim(from[i], to[i]);
  while (start < Math.min(from.length, to.length) && isSame(start)) {
    front.push({ from: [start], to: [start] });
    start++;
  }
  const back: Section[] = [];
  let [i, j] = [from.length, to.length];
  while (i > start && j > start) {
    const section = sectionBefore(from, to, i, j, start);
    if (!section) break;
    back.push(section);
    i -= section.from.length;
    j -= section.to.length;
  }
  const range = (end: number): number[] => Array.from({ length: end - start }, (_, k) => start + k);
  const rest = i > start || j > start ? [{ from: range(i), to: range(j) }] : [];
  return [...front, ...rest, ...back];
}

/** The shortest run of sizes before `i` and `j` with one product. */
function sectionBefore(from: Shape, to: Shape, i: number, j: number, start: number): Section | null {
  let [a, b] = [i - 1, j - 1];
  if (isSameDim(from[a], to[b])) return { from: [a], to: [b] };
  let [one, other]: [Dim | undefined, Dim | undefined] = [from[a], to[b]];
  while (typeof one === "number" && typeof other === "number" && one > 0 && other > 0) {
    if (one === other) {
      const run = (first: number, end: number): number[] => Array.from({ length: end - first }, (_, k) => first + k);
      return { from: run(a, i), to: run(b, j) };
    }
    const isShorter: boolean = one < other;
    const next = isShorter ? from[--a] : to[--b];
    if (typeof next !== "number" || (isShorter ? a : b) < start) return null;
    if (isShorter) one *= next;
    else other *= next;
  }
  return null;
}

/** A block over the axes of the sections that it touches, in the other shape; null where a size is not known. */
function spreadOver(block: Block, sections: readonly Section[], from: Shape, to: Shape): Block | null {
  const own = sections.flatMap((section) => section.from);
  const others = sections.flatMap((section) => section.to);
  if (own.length === others.length && sections.every((section) => section.from.length === 1 && section.to.length === 1))
    return { ...block, axes: block.axes.map((axis) => others[own.indexOf(axis)]!) };
  const dims = own.map((axis) => from[axis]!);
  const newDims = others.map((axis) => to[axis]!);
  if (!isStatic(dims) || !isStatic(newDims)) return null;
  const count = elementCount(dims);
  if (count !== elementCount(newDims) || count > MOST_IDS) return null;
  const strides = stridesOf(block.dims);
  const ids = new Int32Array(count);
  const steps = own.map((axis) => (block.axes.includes(axis) ? strides[block.axes.indexOf(axis)]! : 0));
  forEachPlace(dims, (place, at) => {
    ids[at] = block.ids[place.reduce((sum, position, k) => sum + position * steps[k]!, 0)]!;
  });
  return withoutIdleAxes({ axes: others, dims: newDims, ids });
}

/** [N, C, 1, 1] -> [N, C] and back, where sizes that are not known do not matter. */
export const squeeze: Rule = (node, trace) => {
  const [from, to] = [node.inputs[0]?.shape, node.output.shape];
  if (!from || !to) return `the shapes of ${node.displayName} are not known`;
  const [wide, narrow] = node.op === "Squeeze" ? [from, to] : [to, from];
  const axes = singleAxes(node, wide);
  if (!axes || wide.length - axes.length !== narrow.length) return `the axes of ${node.displayName} are not constant`;
  const stay = wide.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const axisOf = (axis: number): number => (node.op === "Squeeze" ? stay.indexOf(axis) : stay[axis]!);
  trace.give(
    node.output,
    trace.of(node.inputs[0]).map((block) => ({ ...block, axes: block.axes.map(axisOf) })),
  );
  return null;
};

function singleAxes(node: Node, wide: Shape): readonly number[] | null {
  const given = node.inputs[1] ? node.inputs[1].constant?.integers() : node.ints("axes");
  if (given) return given.map((axis) => fromFront(axis, wide.length));
  if (node.inputs[1] || !isStatic(wide)) return null;
  return wide.flatMap((dim, axis) => (dim === 1 ? [axis] : []));
}
