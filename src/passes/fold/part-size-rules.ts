/** Shapes of what takes parts of a tensor, or puts something around it. */
import { constantIntegers, normalizeAxes } from "../../rewrite/match.js";
import { clampToInt32 } from "./shape-vector.js";
import { add, areSame, derived, isNonNegative, multiply, type Size, startOfTable } from "./size.js";
import type { PartialShape, Rule } from "./size-rules.js";

/** `shape` with another size on one axis. */
export function withSize(shape: readonly Size[], axis: number, size: Size | null): PartialShape | null {
  const at = axis < 0 ? axis + shape.length : axis;
  return at in shape ? shape.map((old, i) => (i === at ? size : old)) : null;
}

const slice: Rule = (node, facts) => {
  const shape = facts.shapeOf(node.inputs[0]);
  const read = (input: number): readonly (Size | null)[] | null =>
    facts.vectorOf(node.inputs[input])?.elements ?? node.inputs[input]?.constant?.bigints()?.map(clampToInt32) ?? null;
  const [starts, ends] = [read(1), read(2)];
  if (!shape || !starts || !ends || node.inputs.length < 3) return null;
  const axes = node.inputs[3] ? constantIntegers(node.inputs[3]) : starts.map((_, i) => i);
  const steps = node.inputs[4] ? constantIntegers(node.inputs[4]) : starts.map(() => 1);
  const places = axes && normalizeAxes(axes, shape.length);
  if (!places || !steps) return null;
  return shape.map((size, axis) => {
    const i = places.indexOf(axis);
    if (i < 0) return size;
    const [start, end] = [starts[i] ?? null, ends[i] ?? null];
    return start === null || end === null ? null : sliced(size, start, end, steps[i]!);
  });
};

const FAR = 2 ** 31 - 1;

/** How many elements a slice takes of an axis. */
function sliced(size: Size, start: Size, end: Size, step: number): Size | null {
  const isWhole = step > 0 && (areSame(end, size) || (typeof end === "number" && end >= FAR));
  if (start === 0 && isWhole && step === 1) return size;
  if (typeof size === "number" && typeof start === "number" && typeof end === "number" && step > 0) {
    const clamp = (at: number): number => Math.min(size, Math.max(0, at < 0 ? at + size : at));
    return Math.max(0, Math.ceil((clamp(end) - clamp(start)) / step));
  }
  const isTable = typeof size === "number" && size > 1 && start === 0 && step === 1;
  if (isTable && typeof end !== "number" && isNonNegative(end)) return startOfTable(size, end);
  return derived(`slice ${step}`, size, start, isWhole ? size : end);
}

const tile: Rule = (node, { shapeOf, vectorOf }) => {
  const [shape, repeats] = [shapeOf(node.inputs[0]), vectorOf(node.inputs[1])];
  if (!shape || repeats?.elements.length !== shape.length || node.inputs.length !== 2) return null;
  return shape.map((size, axis) => {
    const times = repeats.elements[axis]!;
    return times === null ? null : multiply(size, times);
  });
};

const pad: Rule = (node, { shapeOf, vectorOf }) => {
  const shape = shapeOf(node.inputs[0]);
  const pads = node.inputs[1] ? vectorOf(node.inputs[1])?.elements : node.ints("pads");
  const given = node.inputs[3] ? constantIntegers(node.inputs[3]) : (shape?.map((_, axis) => axis) ?? null);
  const axes = shape && given && normalizeAxes(given, shape.length);
  if (!axes || pads?.length !== 2 * axes.length) return null;
  return shape.map((size, axis) => {
    const i = axes.indexOf(axis);
    if (i < 0) return size;
    const [before, after] = [pads[i]!, pads[axes.length + i]!];
    const one = before === null ? null : add(size, before);
    return one === null || after === null ? null : add(one, after);
  });
};

const split: Rule = (node, { shapeOf, vectorOf }, output) => {
  const shape = shapeOf(node.inputs[0]);
  const axis = node.int("axis", 0);
  const size = shape?.at(axis);
  if (!shape || size === undefined) return null;
  const sizes = node.inputs[1] ? vectorOf(node.inputs[1])?.elements : node.ints("split");
  if (node.inputs[1] || sizes) return withSize(shape, axis, sizes?.[output] ?? null);
  const count = node.outputs.length;
  if (typeof size !== "number") return withSize(shape, axis, null);
  const chunk = Math.ceil(size / count);
  return withSize(shape, axis, output < count - 1 ? chunk : size - chunk * (count - 1));
};

export const partRules: Readonly<Record<string, Rule>> = {
  Pad: pad,
  Slice: slice,
  Split: split,
  Tile: tile,
};
