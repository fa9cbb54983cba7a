/**
 * Softmax, LogSoftmax, Hardmax.
 *
 * Before opset 13 the input was flattened to a matrix at `axis` (default 1) and each
 * row normalized as a whole; from 13 on one axis is normalized (default -1). They agree
 * when `axis` is the last one, or when at most one axis from `axis` on is longer than 1.
 * Otherwise: Flatten, normalize the rows, Reshape back.
 */
import { type Attribute, attr, isStatic, type Node, type Shape, Tensor } from "../../ir/index.js";
import { addAfter, addBefore, type ConvertContext, type Converter, constantFor } from "./converter.js";

export const softmaxSingleAxis: Converter = {
  at: 13,
  convert(node, { target }) {
    const axis = node.int("axis", 1);
    const single = singleAxis(node, axis);
    node.graph.setAttribute(node, "axis", attr.int(single ?? -1));
    if (single === null) flattenAround(node, axis, target);
  },
};

/** The only axis that has to be normalized, or null when there may be several. */
function singleAxis(node: Node, axis: number): number | null {
  if (axis === -1) return -1;
  const shape = shapeRead(node);
  if (!shape) return null;
  // Nothing to normalize, and the zero could not be written as the target of a Reshape.
  if (shape.includes(0)) return -1;
  const first = axis < 0 ? axis + shape.length : axis;
  const long = shape.map((dim, i) => (i >= first && dim !== 1 ? i : -1)).filter((i) => i >= 0);
  return long.length > 1 ? null : (long[0] ?? shape.length - 1);
}

/** The shape of the input as far as it is known; Gemm and Flatten always give a matrix, Compress of all elements a list. */
function shapeRead(node: Node): Shape | null {
  const { shape, producer } = node.inputs[0]!;
  if (shape) return shape;
  if (producer?.is("Gemm") || producer?.is("Flatten")) return [null, null];
  return producer?.is("Compress") && !producer.attributes.has("axis") ? [null] : null;
}

function flattenAround(node: Node, axis: number, target: ConvertContext["target"]): void {
  const graph = node.graph;
  const input = node.inputs[0]!;
  const result = node.output;
  const shape = isStatic(input.shape)
    ? constantFor(node, "shape", Tensor.i64([input.shape.length], input.shape))
    : addBefore(node, { op: "Shape", inputs: [input], suffix: "shape", type: { dtype: "i64", shape: [null] } });
  const rows = addBefore(node, {
    op: "Flatten",
    inputs: [input],
    attributes: { axis: attr.int(axis) },
    suffix: "rows",
    type: { dtype: input.dtype, shape: [null, null] },
  });
  graph.setInput(node, 0, rows);
  const type = result.type;
  result.type = result.dtype && { dtype: result.dtype, shape: [null, null] };
  // A size that is zero at run time means itself; before opset 14 it can but mean the size at that place in the matrix.
  const attributes: Record<string, Attribute> = shape.constant || target < 14 ? {} : { allowzero: attr.int(1) };
  const shaped = addAfter(node, { op: "Reshape", inputs: [result, shape], attributes, suffix: "shaped", type });
  shaped.info = result.info;
  result.info = null;
  graph.replaceUses(result, shaped, shaped.producer!);
}
