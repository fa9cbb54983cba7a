/**
 * Cosines and sines of a rotary embedding as the operator reads them, [B, S, D / 2], out of
 * what exporters multiply with: a tensor with an axis of one for the heads, and often with
 * both halves of the last axis the same.
 */
import { Tensor, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { givenAxes, normalizeAxes } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";
import type { SizesOf } from "./heads.js";

/** Which axis of the rotated tensor [B, ., ., D] holds the heads: the one along which the angles are the same. */
export function headsAxisOf(angles: Value, sizesOf: SizesOf): 1 | 2 | null {
  const sizes = sizesOf(angles);
  if (!sizes) return null;
  const at = (axis: number): Size => sizes[axis - (4 - sizes.length)] ?? 1;
  if (sizes.length > 4 || (at(1) === 1 && at(2) === 1)) return null;
  return at(1) === 1 ? 1 : at(2) === 1 ? 2 : null;
}

export interface AnglesWanted {
  readonly headsAxis: 1 | 2;
  /** B and S of the rotated tensor. */
  readonly batch: Size;
  readonly length: Size;
  /** D. */
  readonly width: number;
  readonly isDoubled: boolean;
}

/** [B, S, D / 2], or why it cannot be told. */
export function anglesFor(
  value: Value,
  wanted: AnglesWanted,
  sizesOf: SizesOf,
  context: RewriteContext,
): Value | string {
  const flat = withoutHeads(value, wanted, sizesOf, context);
  const [batch, length] = sizesOf(flat) ?? sizesWithout(sizesOf(value), wanted.headsAxis) ?? [];
  if (!areSame(batch, wanted.batch)) return "the angles are not given for each element of the batch";
  if (!areSame(length, wanted.length)) return "the angles may not be given for each position";
  if (!wanted.isDoubled) return flat;
  return halfOf(flat, wanted.width, sizesOf, context) ?? "the halves of the angles are not the same for sure";
}

const sizesWithout = (sizes: readonly Size[] | null, axis: number): readonly Size[] | null =>
  sizes?.length === 4 ? sizes.filter((_, i) => i !== axis) : null;

/** The tensor before an axis for the heads was put in, or with that axis taken out. */
function withoutHeads(
  value: Value,
  { headsAxis }: AnglesWanted,
  sizesOf: SizesOf,
  { create, constant }: RewriteContext,
): Value {
  const node = value.producer;
  const rank = sizesOf(value)?.length ?? 0;
  if (node?.is("Unsqueeze") && node.graph === value.graph) {
    const axes = givenAxes(node);
    if (axes && normalizeAxes(axes, rank)?.join() === `${headsAxis}`) return node.inputs[0]!;
  }
  if (rank === 4) {
    const shape = value.shape?.filter((_, axis) => axis !== headsAxis) ?? null;
    const axes = constant("heads.axis", Tensor.i64([1], [headsAxis]));
    return create("Squeeze", [value, axes], {}, { types: [{ dtype: value.dtype, shape }] }).output;
  }
  return value;
}

const MAX_DEPTH = 12;
const MAX_ELEMENTS = 1 << 24;

/** The first half of the last axis, where the second is the same for sure: the computation again, on half the width. */
function halfOf(value: Value, width: number, sizesOf: SizesOf, context: RewriteContext, depth = 0): Value | null {
  const { create, constant } = context;
  const last = sizesOf(value)?.at(-1);
  if (last !== width || depth > MAX_DEPTH) return null;
  if (value.constant) {
    const tensor = halfOfConstant(value.constant, width);
    return tensor && constant(`${value.label}.half`, tensor);
  }
  const node = value.producer;
  if (node?.domain !== "" || node.graph !== value.graph || node.outputs[0] !== value) return null;
  const rank = sizesOf(value)!.length;
  const again = (inputs: readonly (Value | null)[]): Value => {
    const shape = value.shape && [...value.shape.slice(0, -1), width / 2];
    return create(node.op, inputs, node.attributes, { types: [{ dtype: value.dtype, shape }] }).output;
  };
  const half = (input: Value): Value | null => halfOf(input, width, sizesOf, context, depth + 1);
  const [data, ...others] = node.inputs;
  if (!data) return null;
  if (node.op === "Concat") {
    const isTwice = node.inputs.length === 2 && others[0] === data && [-1, rank - 1].includes(node.int("axis", 0));
    return isTwice ? data : null;
  }
  if (familyOf(node) === "broadcasting") {
    const parts = node.inputs.map((input) => {
      const own = sizesOf(input)?.at(-1);
      return input && own === width ? half(input) : own === 1 || sizesOf(input)?.length === 0 ? input : null;
    });
    return parts.includes(null) ? null : again(parts);
  }
  // Gather of rows keeps the last axis as long as there are several.
  const keepsLast =
    familyOf(node) === "unary" ||
    (node.op === "Gather" && node.int("axis", 0) === 0 && (sizesOf(data)?.length ?? 0) > 1);
  const first = keepsLast || node.op === "Cast" ? half(data) : null;
  return first && again([first, ...others]);
}

function halfOfConstant(tensor: Tensor, width: number): Tensor | null {
  if (tensor.dtype !== "f32" || tensor.elementCount > MAX_ELEMENTS) return null;
  const data = tensor.f32();
  const half = width / 2;
  const kept = new Float32Array(data.length / 2);
  for (let i = 0; i < data.length; i++) {
    const [row, column] = [Math.floor(i / width), i % width];
    if (column < half) kept[row * half + column] = data[i]!;
    else if (!Object.is(data[i], data[i - half])) return null;
  }
  return Tensor.f32([...tensor.dims.slice(0, -1), half], kept);
}
