/** Permuted forms of operators that a vector tells what to do along each axis. */
import { attr, Tensor, type Value } from "../../ir/index.js";
import { constantIntegers } from "../../rewrite/match.js";
import { inverseOf, type Permutation } from "./permutation.js";
import { axesChange, axesOf, axisOf, dataOnly, type Rule } from "./permuted-form.js";

const pad: Rule = (node, order) => {
  const rank = order.length;
  if (node.inputs[3]) {
    const axes = axesOf(node, 3, rank);
    const stored = axes?.map((axis) => order[axis]!);
    return stored ? dataOnly(node, order, [order], axesChange(node, 3, stored)) : null;
  }
  const pads = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("pads");
  if (pads?.length !== 2 * rank) return null;
  const from = inverseOf(order);
  const stored = [...from.map((axis) => pads[axis]!), ...from.map((axis) => pads[rank + axis]!)];
  const changes = node.inputs[1]
    ? { constants: new Map([[1, () => Tensor.i64([stored.length], stored)]]) }
    : { attributes: { pads: attr.ints(stored) } };
  return dataOnly(node, order, [order], changes);
};

const slice: Rule = (node, order) => {
  // Before opset 10 the bounds were attributes.
  const count = node.inputs[1]?.shape?.[0];
  if (node.inputs.length < 3 || typeof count !== "number" || !node.inputs[1]?.dtype) return null;
  const axes = node.inputs[3] ? axesOf(node, 3, order.length) : Array.from({ length: count }, (_, axis) => axis);
  const stored = axes?.map((axis) => order[axis]!);
  if (!stored || stored.includes(undefined as never)) return null;
  const constants = new Map([[3, () => indicesLike(node.inputs[1]!, stored)]]);
  return dataOnly(node, order, [order], { constants });
};

const indicesLike = ({ dtype }: Value, indices: readonly number[]): Tensor =>
  dtype === "i32"
    ? Tensor.ofArray("i32", [indices.length], Int32Array.from(indices))
    : Tensor.i64([indices.length], indices);

const tile: Rule = (node, order) => {
  const repeats = constantIntegers(node.inputs[1]);
  if (repeats?.length !== order.length || node.inputs.length !== 2) return null;
  const stored = inverseOf(order).map((axis) => repeats[axis]!);
  return dataOnly(node, order, [order], { constants: new Map([[1, () => Tensor.i64([stored.length], stored)]]) });
};

const cumSum: Rule = (node, order) => {
  const axes = constantIntegers(node.inputs[1]);
  const stored = axes?.length === 1 ? axisOf(axes[0]!, order) : undefined;
  if (stored === undefined) return null;
  const dims = node.inputs[1]!.constant!.dims;
  return dataOnly(node, order, [order], {
    constants: new Map([[1, () => indicesLike(node.inputs[1]!, [stored]).withDims(dims)]]),
  });
};

/** Only towards channels first, where every runtime has its kernels. */
const resize: Rule = (node, order) => {
  const rank = order.length;
  if (node.attributes.has("axes") || rank !== 4 || order[0] !== 0 || order[3] !== 1) return null;
  const roi = node.inputs[1];
  if (roi && roi.shape?.[0] !== 0) return null;
  const which = node.inputs[3] ? 3 : 2;
  const amounts = node.inputs[which]?.constant;
  if (!amounts || amounts.elementCount !== rank || (which === 3 && (node.inputs[2]?.shape?.[0] ?? 0) !== 0))
    return null;
  return dataOnly(node, order, [order], { constants: new Map([[which, () => takenInOrder(amounts, order)]]) });
};

/** Element `axis` of the vector goes to the place where that axis is stored. */
function takenInOrder(vector: Tensor, order: Permutation): Tensor {
  const size = vector.byteLength / vector.elementCount;
  const bytes = vector.bytes();
  const taken = new Uint8Array(vector.byteLength);
  inverseOf(order).forEach((axis, i) => void taken.set(bytes.subarray(axis * size, (axis + 1) * size), i * size));
  return Tensor.fromBytes(vector.dtype, vector.dims, taken);
}

export const vectorRules: Readonly<Record<string, Rule>> = {
  CumSum: cumSum,
  Pad: pad,
  Resize: resize,
  Slice: slice,
  Tile: tile,
};
