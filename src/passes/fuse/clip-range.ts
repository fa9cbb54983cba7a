/** Relu, Clip, Max and Min by one number, seen alike: values are held between two bounds. */
import { attr, type DType, type Graph, type Node, Tensor, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { constantScalar, producerOf, scalarBeside, splitConstant } from "../../rewrite/match.js";

export interface ClipRange {
  readonly node: Node;
  readonly input: Value;
  /** May be infinite; min <= max. */
  readonly min: number;
  readonly max: number;
  /** Type of the elements; null when it is unknown. */
  readonly dtype: DType | null;
}

/** The largest float32: exporters write it for "no bound". */
const LARGEST = Math.fround(3.4028234663852886e38);

const unbounded = (value: number): number =>
  Math.abs(value) >= LARGEST ? Math.sign(value) * Number.POSITIVE_INFINITY : value;

/** What a node holds its input between, or null when it does something else or the bounds are not constant. */
export function clipRangeOf(node: Node): ClipRange | null {
  const bounds = boundsOf(node);
  if (!bounds || Number.isNaN(bounds.min) || Number.isNaN(bounds.max) || bounds.min > bounds.max) return null;
  return bounds;
}

/** The same, for the producer of a value in `graph`. */
export function clipRangeBehind(value: Value | null | undefined, graph: Graph): ClipRange | null {
  for (const op of ["Clip", "Relu", "Max", "Min"]) {
    const node = producerOf(value, op, graph);
    if (node) return clipRangeOf(node);
  }
  return null;
}

function boundsOf(node: Node): ClipRange | null {
  const input = node.inputs[0];
  if (node.is("Relu") && input) return { node, input, min: 0, max: Number.POSITIVE_INFINITY, dtype: input.dtype };
  if (node.is("Clip") && input) {
    const [, low, high] = node.inputs;
    const min = low ? constantScalar(low) : node.float("min", Number.NEGATIVE_INFINITY);
    const max = high ? constantScalar(high) : node.float("max", Number.POSITIVE_INFINITY);
    if (min === null || max === null) return null;
    const dtype = input.dtype ?? low?.dtype ?? high?.dtype ?? null;
    return { node, input, min: unbounded(min), max: unbounded(max), dtype };
  }
  if (!node.is("Max") && !node.is("Min")) return null;
  const operands = splitConstant(node);
  const bound = operands && scalarBeside(operands.constant, operands.other);
  if (!operands || bound === null) return null;
  const { other, constant } = operands;
  return node.is("Max")
    ? { node, input: other, min: bound, max: Number.POSITIVE_INFINITY, dtype: constant.dtype }
    : { node, input: other, min: Number.NEGATIVE_INFINITY, max: bound, dtype: constant.dtype };
}

/** A Relu or Clip with these bounds. */
export function createClip(
  { create, constant, opset }: RewriteContext,
  input: Value,
  { min, max, dtype }: { min: number; max: number; dtype: "f32" },
  like: Node,
): Node {
  if (min === 0 && max === Number.POSITIVE_INFINITY) return create("Relu", [input], {}, { like });
  const hasMin = min !== Number.NEGATIVE_INFINITY;
  const hasMax = max !== Number.POSITIVE_INFINITY;
  if (opset < 11) {
    const attributes = { ...(hasMin && { min: attr.float(min) }), ...(hasMax && { max: attr.float(max) }) };
    return create("Clip", [input], attributes, { like });
  }
  const bound = (name: string, value: number): Value =>
    constant(`${like.output.label}/${name}`, Tensor.scalar(dtype, value));
  const inputs: (Value | null)[] = [input, hasMin ? bound("min", min) : null];
  if (hasMax) inputs.push(bound("max", max));
  return create("Clip", inputs, {}, { like });
}
