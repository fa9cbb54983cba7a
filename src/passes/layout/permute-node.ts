/**
 * How an operator does the same work when the axes of its operands are stored in another
 * order. A value v is stored in the order p when v = Transpose<p>(what is stored).
 *
 *   Relu(v)              stored in p when v is
 *   Concat<axis=a>(...)  becomes Concat<axis=p[a]> of what is stored
 *   Squeeze, Reduce, Gather of one index: the axes that are left keep the order they have
 *
 * Operators for which the place of an axis has a meaning (Conv, MatMul, Reshape) have no rule.
 */
import { type Attribute, attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { constantIntegers, normalizeAxes } from "../../rewrite/match.js";
import { inverseOf, type Permutation } from "./permutation.js";
import { isMovable, permutedTensor } from "./permuted-tensor.js";

export interface PermutedForm {
  /** The order in which each input is stored; null for one that is read as it is. */
  readonly inputs: readonly (Permutation | null)[];
  readonly outputs: readonly Permutation[];
  /** Inputs that become other constants. */
  readonly constants: ReadonlyMap<number, () => Tensor>;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

type Rule = (node: Node, order: Permutation) => PermutedForm | null;

/** The form of `node` when the first of its operands of the rank of `order` is stored in that order; null without one. */
export function permutedForm(node: Node, order: Permutation): PermutedForm | null {
  if (node.domain !== "" || node.outputs.some((output) => output === null)) return null;
  if (Object.hasOwn(rules, node.op)) return rules[node.op]!(node, order);
  const family = familyOf(node);
  if (family === "unary" || sameOrder.has(node.op)) return pointwise(node, order, 1);
  return family === "broadcasting" ? pointwise(node, order, node.inputs.length) : null;
}

/** One operand, read element by element; further inputs are scalars. */
const sameOrder = new Set(["Cast", "Clip", "IsInf", "IsNaN"]);

/** Constants above this size are not stored a second time for other readers. */
const COPIED_BYTES = 64 << 10;

/** Operators without axes, the first `operands` inputs being broadcast against each other. */
function pointwise(node: Node, order: Permutation, operands: number): PermutedForm | null {
  const rank = order.length;
  if (node.attributes.has("axis") || node.attributes.has("broadcast")) return null;
  const constants = new Map<number, () => Tensor>();
  const inputs: (Permutation | null)[] = [];
  for (const [i, value] of node.inputs.entries()) {
    inputs.push(null);
    if (!value || i >= operands || hasOneElement(value, rank)) continue;
    if (value.constant) {
      const make = operandConstant(value, order);
      if (!make) return null;
      constants.set(i, make);
    } else if (value.shape?.length === rank) inputs[i] = order;
    else return null;
  }
  return { inputs, outputs: [order], constants, attributes: {} };
}

/** Whether a value is the same in any order of axes, and does not widen an operand of rank `rank`. */
const hasOneElement = ({ shape }: Value, rank: number): boolean =>
  !!shape && shape.length <= rank && shape.every((dim) => dim === 1);

/** A constant operand, filled up with leading axes of 1, in the stored order. */
function operandConstant(value: Value, order: Permutation): (() => Tensor) | null {
  const tensor = value.constant!;
  const missing = order.length - tensor.dims.length;
  if (missing < 0 || !isMovable(tensor)) return null;
  const full = [...Array<number>(missing).fill(1), ...tensor.dims];
  const isLine = full.filter((dim) => dim !== 1).length <= 1;
  if (!isLine && value.useCount > 1 && tensor.byteLength > COPIED_BYTES) return null;
  return () => permutedTensor(tensor.withDims(full), inverseOf(order));
}

const dataOnly = (
  node: Node,
  order: Permutation,
  outputs: readonly Permutation[],
  changes: Partial<Pick<PermutedForm, "constants" | "attributes">> = {},
): PermutedForm | null =>
  node.inputs[0]?.shape?.length === order.length
    ? {
        inputs: node.inputs.map((_, i) => (i === 0 ? order : null)),
        outputs,
        constants: changes.constants ?? new Map(),
        attributes: changes.attributes ?? {},
      }
    : null;

const axisOf = (axis: number, order: Permutation): number | undefined => order[axis < 0 ? axis + order.length : axis];

/** Operators with one `axis` attribute that keep the shape, or all of it but that axis. */
const alongAxis =
  (absent: number): Rule =>
  (node, order) => {
    const axis = axisOf(node.int("axis", absent), order);
    if (axis === undefined) return null;
    const outputs = node.outputs.map(() => order);
    return dataOnly(node, order, outputs, { attributes: { axis: attr.int(axis) } });
  };

/** Rows that lay side by side must still do so: otherwise the kernel moves them itself. */
const softmax: Rule = (node, order) => {
  const last = order.length - 1;
  const axis = node.int("axis", -1);
  const stored = axisOf(axis, order);
  return stored !== last && (axis === -1 || axis === last) ? null : alongAxis(-1)(node, order);
};

/** Axes of a node, from an input since some opset or an attribute before; null when computed or out of range. */
function axesOf(node: Node, input: number, rank: number): number[] | null {
  const given = node.inputs[input] ? constantIntegers(node.inputs[input]) : node.ints("axes");
  return given && normalizeAxes(given, rank);
}

const axesChange = (node: Node, input: number, axes: readonly number[]): Partial<PermutedForm> =>
  node.inputs[input]
    ? { constants: new Map([[input, () => Tensor.i64([axes.length], axes)]]) }
    : { attributes: { axes: attr.ints(axes) } };

/** The order of the axes that are left when some are taken out. */
function orderWithout(order: Permutation, removed: readonly number[]): Permutation {
  const gone = removed.map((axis) => order[axis]!);
  const stored = order.map((_, axis) => axis).filter((axis) => !gone.includes(axis));
  return order.flatMap((axis, i) => (removed.includes(i) ? [] : [stored.indexOf(axis)]));
}

const reduce: Rule = (node, order) => {
  const hasAxes = !!node.inputs[1] || node.attributes.has("axes");
  const keeps = node.int("keepdims", 1) !== 0;
  if (!hasAxes) {
    const leavesAll = node.int("noop_with_empty_axes", 0) !== 0;
    return dataOnly(node, order, [keeps || leavesAll ? order : []]);
  }
  const axes = axesOf(node, 1, order.length);
  if (!axes || axes.length === 0) return null;
  const outputs = [keeps ? order : orderWithout(order, axes)];
  const stored = axes.map((axis) => order[axis]!).sort((a, b) => a - b);
  return dataOnly(node, order, outputs, axesChange(node, 1, stored));
};

const argReduce: Rule = (node, order) => {
  const axis = node.int("axis", 0);
  const stored = axisOf(axis, order);
  if (stored === undefined) return null;
  const from = axis < 0 ? axis + order.length : axis;
  const outputs = [node.int("keepdims", 1) !== 0 ? order : orderWithout(order, [from])];
  return dataOnly(node, order, outputs, { attributes: { axis: attr.int(stored) } });
};

const squeeze: Rule = (node, order) => {
  const axes = axesOf(node, 1, order.length);
  if (!axes || axes.length === 0) return null;
  const stored = axes.map((axis) => order[axis]!).sort((a, b) => a - b);
  return dataOnly(node, order, [orderWithout(order, axes)], axesChange(node, 1, stored));
};

/** The new axes stand in what is stored where they stand in the result. */
const unsqueeze: Rule = (node, order) => {
  const given = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("axes");
  const rank = order.length + (given?.length ?? 0);
  const axes = given && normalizeAxes(given, rank);
  if (!axes) return null;
  const places = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !axes.includes(axis));
  const result = Array.from({ length: rank }, (_, axis) =>
    axes.includes(axis) ? axis : places[order[places.indexOf(axis)]!]!,
  );
  return dataOnly(node, order, [result], axesChange(node, 1, axes));
};

const concat: Rule = (node, order) => {
  const axis = axisOf(node.int("axis", 0), order);
  if (axis === undefined || node.inputs.some((value) => value?.shape?.length !== order.length)) return null;
  const constants = new Map<number, () => Tensor>();
  for (const [i, value] of node.inputs.entries()) {
    if (!value!.constant) continue;
    const make = operandConstant(value!, order);
    if (!make) return null;
    constants.set(i, make);
  }
  return {
    inputs: node.inputs.map((_, i) => (constants.has(i) ? null : order)),
    outputs: [order],
    constants,
    attributes: { axis: attr.int(axis) },
  };
};

/** One of no indices on an axis: that axis goes; a list: it stays in its place. */
const gather: Rule = (node, order) => {
  const rank = node.inputs[1]?.shape?.length;
  const axis = node.int("axis", 0);
  const stored = axisOf(axis, order);
  const from = axis < 0 ? axis + order.length : axis;
  if (stored === undefined || rank === undefined || rank > 1) return null;
  const outputs = [rank === 1 ? order : orderWithout(order, [from])];
  return dataOnly(node, order, outputs, { attributes: { axis: attr.int(stored) } });
};

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

/** Scale and zero point are one number, or a line along `axis`. */
const quantizing: Rule = (node, order) => {
  if (node.int("block_size", 0) !== 0) return null;
  const scale = node.inputs[1]?.shape;
  if (!scale) return null;
  if (scale.length === 0 || (scale.length === 1 && scale[0] === 1)) return dataOnly(node, order, [order]);
  const axis = axisOf(node.int("axis", 1), order);
  if (scale.length !== 1 || axis === undefined) return null;
  return dataOnly(node, order, [order], { attributes: { axis: attr.int(axis) } });
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

const rules: Readonly<Record<string, Rule>> = {
  ArgMax: argReduce,
  ArgMin: argReduce,
  Concat: concat,
  CumSum: cumSum,
  DequantizeLinear: quantizing,
  Gather: gather,
  LogSoftmax: softmax,
  Pad: pad,
  QuantizeLinear: quantizing,
  ReduceL1: reduce,
  ReduceL2: reduce,
  ReduceLogSum: reduce,
  ReduceLogSumExp: reduce,
  ReduceMax: reduce,
  ReduceMean: reduce,
  ReduceMin: reduce,
  ReduceProd: reduce,
  ReduceSum: reduce,
  ReduceSumSquare: reduce,
  Resize: resize,
  Slice: slice,
  Softmax: softmax,
  Split: alongAxis(0),
  Squeeze: squeeze,
  Tile: tile,
  TopK: alongAxis(-1),
  Unsqueeze: unsqueeze,
};
