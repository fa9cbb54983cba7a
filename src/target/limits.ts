/** Limits that targets put on single operators, as questions about one node. What is not known of the node passes. */
import type { DType, Node, Value } from "../ir/index.js";

/** What of the node is beyond the limit, in words that follow "TARGET: "; null when nothing is. */
export type Limit = (node: Node, opset: number) => string | null;

/** By `domain::name`, ai.onnx without a domain. No limit: taken in every form. */
export type OperatorTable = Readonly<Record<string, readonly Limit[]>>;

/** A table of operators without limits, from names between spaces. */
export const plain = (names: string): OperatorTable =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, []]),
  );

/** Values of graphs around a body may be constants as well, and so may what a Constant node gives. */
const isConstant = (value: Value | null | undefined): boolean =>
  !value || value.constant !== null || value.producer?.is("Constant") === true;

/** The input, where it is there, has to be known when the model is built. */
export const constantInput =
  (index: number, name: string): Limit =>
  (node) =>
    isConstant(node.inputs[index]) ? null : `its input ${name} has to be a constant`;

/** The first input has one of these ranks. */
export const rankOf =
  (...ranks: readonly number[]): Limit =>
  ({ inputs: [first] }) => {
    const rank = first?.shape?.length;
    return rank === undefined || ranks.includes(rank) ? null : `its input has rank ${rank}, not ${ranks.join(" or ")}`;
  };

export const fixedSizes: Limit = ({ inputs: [first] }) =>
  first?.shape?.some((dim) => typeof dim !== "number") ? "its input has to have fixed sizes" : null;

export const intIs =
  (attribute: string, absent: number, ...allowed: readonly number[]): Limit =>
  (node) => {
    const value = node.int(attribute, absent);
    return allowed.includes(value) ? null : `${attribute} is ${value}, not ${allowed.join(" or ")}`;
  };

export const textIs =
  (attribute: string, absent: string, ...allowed: readonly string[]): Limit =>
  (node) => {
    const value = node.string(attribute, absent);
    return allowed.includes(value) ? null : `${attribute} is ${JSON.stringify(value)}, not ${allowed.join(" or ")}`;
  };

export const undilated: Limit = (node) =>
  node.ints("dilations")?.some((dilation) => dilation !== 1) ? "dilations have to be 1" : null;

export const withoutAttribute =
  (...names: readonly string[]): Limit =>
  (node) => {
    const found = names.find((name) => node.attributes.has(name));
    return found === undefined ? null : `the attribute ${found} is unknown to it`;
  };

/** Only the first outputs, `count` of them, may be read. */
export const outputsUpTo =
  (count: number): Limit =>
  ({ outputs }) => {
    const read = outputs.findIndex((value, i) => i >= count && value !== null && value.useCount > 0);
    return read < 0 ? null : `its output ${read} is not computed`;
  };

/** Newest opset whose form of the operator is understood. */
export const upToOpset =
  (newest: number): Limit =>
  (_, opset) =>
    opset > newest ? `its form of opset ${opset} is unknown: known up to ${newest}` : null;

/** A zero point that is not there is zero. */
export const zeroZeroPoint: Limit = ({ inputs }) => {
  const zeroPoint = inputs[2];
  if (!zeroPoint) return null;
  if (!zeroPoint.constant) return isConstant(zeroPoint) ? null : "its zero point has to be a constant 0";
  return zeroPoint.constant.bytes().every((byte) => byte === 0) ? null : "its zero point has to be 0";
};

export const dtypeOf =
  (index: number, ...allowed: readonly DType[]): Limit =>
  ({ inputs }) => {
    const dtype = inputs[index]?.dtype;
    return !dtype || allowed.includes(dtype) ? null : `it takes ${allowed.join(", ")}, not ${dtype}`;
  };
