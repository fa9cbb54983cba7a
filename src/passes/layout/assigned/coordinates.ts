/**
 * Integers that count along one axis, as the indices of a grid do, behind whatever an exporter makes them of:
 *
 *   Expand(Reshape(Range(0, n, 1), [-1, 1, 1]), [n, 4, 5])  =>  0, 1, 2, ... along the first of three axes
 */
import type { Node, Tensor, Value } from "../../../ir/index.js";
import { givenAxes, normalizeAxes, producerOf } from "../../../rewrite/match.js";
import { areSame, type Size } from "../../fold/size.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { stridesOf } from "../permuted-tensor.js";
import { boundsOf, TO_THE_END } from "../slice-bounds.js";
import { fillOf } from "./fill.js";

/** Element `i` along the axis that counts is `start + i * step`, whatever the place on the others. */
export interface Coordinates {
  readonly start: number;
  readonly step: number;
  /** Counted from the last axis, which is -1; null where all elements are `start`. */
  readonly along: number | null;
  /** What they stay below, though one more would not; absent where that is not known. */
  readonly limit?: Size;
}

type Finder = (node: Node, inner: Coordinates & { readonly along: number }, facts: SizeFacts) => Coordinates | null;

/** Null where they do not count, or nothing here tells so. */
export function coordinatesOf(value: Value, facts: SizeFacts, left = DEEPEST): Coordinates | null {
  if (value.constant) return columnsIn(value.constant, false)?.[0] ?? null;
  const { producer } = value;
  if (producer?.domain !== "" || left === 0) return null;
  if (producer.op === "Range") return countedBy(producer, facts);
  if (producer.op === "ConstantOfShape") return columnsIn(fillOf(value), false)?.[0] ?? null;
  if (!Object.hasOwn(finders, producer.op)) return null;
  const inner = coordinatesOf(producer.inputs[0]!, facts, left - 1);
  if (inner?.along == null) return inner;
  return finders[producer.op]!(producer, { ...inner, along: inner.along }, facts);
}

/** What stands in each place of the last axis of `indices`, along the other axes; null where it does not count. */
export function columnsOf(indices: Value, facts: SizeFacts): readonly (Coordinates | null)[] | null {
  if (indices.constant) return columnsIn(indices.constant, true);
  const rank = facts.shapeOf(indices)?.length;
  const concat = producerOf(indices, "Concat", indices.graph);
  if (rank !== undefined && concat && normalizeAxes([concat.int("axis", 0)], rank)?.[0] === rank - 1) {
    const columns = concat.inputs.map((part) => part && columnsOf(part, facts));
    return columns.every((each) => each !== null) ? columns.flat() : null;
  }
  if (facts.shapeOf(indices)?.at(-1) !== 1) return null;
  const only = coordinatesOf(indices, facts);
  // Of the last axis, there is one.
  return [only && { ...only, along: only.along === null || only.along === -1 ? null : only.along + 1 }];
}

const DEEPEST = 12;
/** Of a constant that is looked through: places of a picture of 1,000 by 1,000 in four columns. */
const MOST_ELEMENTS = 1 << 22;

function countedBy(range: Node, { vectorOf }: SizeFacts): Coordinates | null {
  const [start, limit, step] = range.inputs.map((input) => vectorOf(input)?.elements[0]);
  if (typeof start !== "number" || typeof step !== "number") return null;
  return { start, step, along: -1, ...(limit != null && { limit }) };
}

/** What nodes make of coordinates that count: of those that are all the same, all of them make the same. */
const finders: Readonly<Record<string, Finder>> = {
  Expand(node, inner, { shapeOf }) {
    const [before, after] = [shapeOf(node.inputs[0]), shapeOf(node.output)];
    return areSame(before?.at(inner.along), after?.at(inner.along)) ? inner : null;
  },
  Reshape(node, inner, { shapeOf }) {
    const [before, after] = [shapeOf(node.inputs[0]), shapeOf(node.output)];
    const size = before?.at(inner.along);
    if (!before || !after || !isOnlyAxis(before, inner.along + before.length)) return null;
    const axis = after.findIndex((each) => areSame(each, size));
    return isOnlyAxis(after, axis) ? { ...inner, along: axis - after.length } : null;
  },
  Unsqueeze(node, inner, { shapeOf }) {
    const rank = shapeOf(node.output)?.length;
    const added = rank === undefined ? null : normalizeAxes(givenAxes(node) ?? [], rank);
    if (rank === undefined || !added?.length) return null;
    const kept = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !added.includes(axis));
    return { ...inner, along: kept.at(inner.along)! - rank };
  },
  Slice(node, inner, { shapeOf }) {
    const rank = shapeOf(node.inputs[0])?.length;
    const bounds = boundsOf(node);
    const [axis, start, end, step] = [bounds?.axes[0], bounds?.starts[0], bounds?.ends[0], bounds?.steps[0]];
    if (rank === undefined || bounds?.axes.length !== 1 || start === undefined || end === undefined) return null;
    if (normalizeAxes([axis!], rank)?.[0] !== inner.along + rank || start < 0n || !step || step < 1n) return null;
    const { limit, ...rest } = inner;
    const sliced = {
      ...{ ...rest, start: inner.start + Number(start) * inner.step, step: inner.step * Number(step) },
      ...(limit !== undefined && end >= TO_THE_END && { limit }),
    };
    return Number.isSafeInteger(sliced.start) && Number.isSafeInteger(sliced.step) ? sliced : null;
  },
};

const isOnlyAxis = (shape: readonly Size[], axis: number): boolean =>
  axis >= 0 && shape.every((size, other) => other === axis || size === 1);

type Columns = readonly (Coordinates | null)[] | null;

/** Of constants, which stay what they are: a chain of nodes asks for those of each again. */
const known = { ofLast: new WeakMap<Tensor, Columns>(), ofAll: new WeakMap<Tensor, Columns>() };

/** @param areLast whether the columns are along the last axis; else there is one, of all axes */
function columnsIn(tensor: Tensor | null, areLast: boolean): Columns {
  if (!tensor) return null;
  const memory = areLast ? known.ofLast : known.ofAll;
  const held = memory.get(tensor);
  if (held !== undefined) return held;
  const found = readColumns(tensor, areLast);
  memory.set(tensor, found);
  return found;
}

function readColumns(tensor: Tensor, areLast: boolean): Columns {
  const { dims, elementCount } = tensor;
  if (elementCount > MOST_ELEMENTS || (areLast && dims.length === 0)) return null;
  const numbers = tensor.integers();
  const columns = areLast ? dims.at(-1)! : 1;
  const places = areLast ? dims.slice(0, -1) : dims;
  return numbers && Array.from({ length: columns }, (_, column) => counted(numbers, places, column, columns));
}

/** Of every `apart`th number from `first` on. */
function counted(
  numbers: readonly number[],
  dims: readonly number[],
  first: number,
  apart: number,
): Coordinates | null {
  const start = numbers[first];
  if (start === undefined) return null;
  const strides = stridesOf(dims);
  const steps = dims.map((size, axis) => (size > 1 ? numbers[first + strides[axis]! * apart]! - start : 0));
  const axis = steps.findIndex((step) => step !== 0);
  const [step, stride, size] = axis < 0 ? [0, 1, 1] : [steps[axis]!, strides[axis]!, dims[axis]!];
  for (let at = first, place = 0; at < numbers.length; at += apart, place++) {
    if (numbers[at] !== start + (Math.floor(place / stride) % size) * step) return null;
  }
  return { start, step, along: axis < 0 ? null : axis - dims.length };
}
