/**
 * How an operator does the same work when the axes of its operands are stored in another
 * order. A value v is stored in the order p when v = Transpose<p>(what is stored).
 *
 *   Relu(v)              stored in p when v is
 *   Concat<axis=a>(...)  becomes Concat<axis=p[a]> of what is stored
 *   Squeeze, Reduce, Gather of one index: the axes that are left keep the order they have
 *
 * Operators for which the place of an axis has a meaning (Conv, MatMul) have no rule.
 */
import { attr, type Node, type Tensor, type Value } from "../../ir/index.js";
import { axisReductions, familyOf } from "../../ops/facts.js";
import { givenAxes, normalizeAxes } from "../../rewrite/match.js";
import { inverseOf, isSameOrder, type Permutation } from "./permutation.js";
import { permutedReshape } from "./permute-reshape.js";
import { vectorRules } from "./permute-vectors.js";
import { axesChange, axesOf, axisOf, dataOnly, type PermutedForm, type Rule } from "./permuted-form.js";
import { isMovable, permutedTensor } from "./permuted-tensor.js";

/** The form of `node` when the first of its operands of the rank of `order` is stored in that order; null without one. */
export function permutedForm(node: Node, order: Permutation): PermutedForm | null {
  if (node.domain !== "" || node.outputs.some((output) => output === null)) return null;
  if (Object.hasOwn(rules, node.op)) return rules[node.op]!(node, order);
  const family = familyOf(node);
  if (family === "unary" || sameOrder.has(node.op)) return pointwise(node, order, 1);
  return family === "broadcasting" ? pointwise(node, order, node.inputs.length) : null;
}

/** The form when the result is stored in `order`, for operators that have one order for both or can tell the one from the other. */
export function permutedFormFor(node: Node, order: Permutation): PermutedForm | null {
  if (node.is("Reshape")) return permutedReshape(node, order, true);
  const form = permutedForm(node, order);
  return form?.outputs.every((each) => isSameOrder(each, order)) ? form : null;
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

/** The order of the axes that are left when some are taken out. */
function orderWithout(order: Permutation, removed: readonly number[]): Permutation {
  const gone = removed.map((axis) => order[axis]!);
  const stored = order.map((_, axis) => axis).filter((axis) => !gone.includes(axis));
  return order.flatMap((axis, i) => (removed.includes(i) ? [] : [stored.indexOf(axis)]));
}

const reduce: Rule = (node, order) => {
  const hasAxes = !!node.inputs[1] || node.attributes.has("axes");
  const axes = hasAxes ? axesOf(node, 1, order.length) : [];
  if (!axes) return null;
  const keeps = node.int("keepdims", 1) === 1;
  // No axes are all of them, or none, and need no other names.
  if (axes.length === 0) {
    const leavesAll = node.int("noop_with_empty_axes", 0) !== 0;
    return dataOnly(node, order, [keeps || leavesAll ? order : []]);
  }
  const outputs = [keeps ? order : orderWithout(order, axes)];
  const stored = axes.map((axis) => order[axis]!).sort((a, b) => a - b);
  return dataOnly(node, order, outputs, axesChange(node, 1, stored));
};

const argReduce: Rule = (node, order) => {
  const axis = node.int("axis", 0);
  const stored = axisOf(axis, order);
  if (stored === undefined) return null;
  const from = axis < 0 ? axis + order.length : axis;
  const outputs = [node.int("keepdims", 1) === 1 ? order : orderWithout(order, [from])];
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
  const given = givenAxes(node);
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

const rules: Readonly<Record<string, Rule>> = {
  ...vectorRules,
  ...Object.fromEntries(axisReductions.map((op) => [op, reduce])),
  ArgMax: argReduce,
  ArgMin: argReduce,
  Concat: concat,
  DequantizeLinear: quantizing,
  Gather: gather,
  LogSoftmax: softmax,
  QuantizeLinear: quantizing,
  Reshape: (node, order) => permutedReshape(node, order),
  Softmax: softmax,
  Split: alongAxis(0),
  Squeeze: squeeze,
  TopK: alongAxis(-1),
  Unsqueeze: unsqueeze,
};
