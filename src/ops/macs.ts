/**
 * Multiply-accumulates of the operators that do nearly all the arithmetic: convolutions
 * matrix products, attention and recurrent networks, in float and in integers. A node needs known shapes to be counted.
 *
 *   Conv           elements(Y) * C_in / group * kernel       W is [C_out, C_in / group, ...kernel]
 *   ConvTranspose  elements(X) * C_out / group * kernel      W is [C_in, C_out / group, ...kernel]
 *   MatMul, Gemm   elements(Y) * K
 *   Attention      (elements(Q) + elements(Y)) * T                    T keys
 *   LSTM, GRU, RNN steps * batch * (elements(W) + elements(R))
 */
import { ownEntry } from "../base/own-entry.js";
import { elementCount, isStatic, type Model, type Node, nodesWithin, type Shape, type Value } from "../ir/index.js";

export interface MacCount {
  /** Of the nodes whose shapes are known. */
  readonly known: number;
  /** Nodes of this kind by operator, in the order of the graph. */
  readonly operators: ReadonlyMap<string, number>;
  /** All of them, and those among them without known shapes. */
  readonly nodes: number;
  readonly unknown: number;
  /** Nodes that run as often as data says (bodies of Loop and Scan): counted once. */
  readonly inLoops: number;
}

type Formula = (node: Node) => number | null;

/** Position of the weights: integer forms have scales and zero points between. */
const convolution =
  (weight: number): Formula =>
  (node) =>
    product(elements(node.outputs[0]), tail(node.inputs[weight], 1));

const matrixProduct =
  (left: number): Formula =>
  (node) =>
    product(elements(node.outputs[0]), dim(node.inputs[left], -1));

const formulas: Readonly<Record<string, Formula>> = {
  Conv: convolution(1),
  ConvInteger: convolution(1),
  QLinearConv: convolution(3),
  "com.microsoft::QLinearConv": convolution(3),
  "com.microsoft::FusedConv": convolution(1),
  "com.microsoft.nchwc::Conv": convolution(1),
  "com.microsoft::NhwcFusedConv": convolution(1),
  ConvTranspose: (node) => product(elements(node.inputs[0]), tail(node.inputs[1], 1)),
  MatMul: matrixProduct(0),
  MatMulInteger: matrixProduct(0),
  QLinearMatMul: matrixProduct(0),
  Gemm: (node) => product(elements(node.outputs[0]), dim(node.inputs[0], node.int("transA", 0) ? 0 : 1)),
  "com.microsoft::FusedMatMul": (node) =>
    product(elements(node.outputs[0]), dim(node.inputs[0], node.int("transA", 0) ? -2 : -1)),
  "com.microsoft::FusedGemm": (node) =>
    product(elements(node.outputs[0]), dim(node.inputs[0], node.int("transA", 0) ? 0 : 1)),
  "com.microsoft::QGemm": (node) =>
    product(elements(node.outputs[0]), dim(node.inputs[0], node.int("transA", 0) ? 0 : 1)),
  Attention: attention,
  LSTM: recurrent,
  GRU: recurrent,
  RNN: recurrent,
  "com.microsoft::DynamicQuantizeLSTM": recurrent,
  "com.microsoft::MatMulNBits": (node) => product(elements(node.outputs[0]), node.int("K", null)),
  "com.microsoft::MatMulIntegerToFloat": matrixProduct(0),
  "com.microsoft::DynamicQuantizeMatMul": matrixProduct(0),
};

/** Whether it is one of the operators that do nearly all the arithmetic. */
export const isProduct = (node: Node): boolean => ownEntry(formulas, node.opName) !== undefined;

/** Of one such node; null where a shape that it depends on is unknown, and for other operators. */
export const macsOf = (node: Node): number | null => ownEntry(formulas, node.opName)?.(node) ?? null;

export function countMacs({ graph }: Model): MacCount {
  let known = 0;
  let nodes = 0;
  const operators = new Map<string, number>();
  let unknown = 0;
  let inLoops = 0;
  for (const node of nodesWithin(graph)) {
    if (!isProduct(node)) continue;
    nodes++;
    operators.set(node.opName, (operators.get(node.opName) ?? 0) + 1);
    if (isRepeated(node)) inLoops++;
    const macs = macsOf(node);
    if (macs === null) unknown++;
    else known += macs;
  }
  return { known, operators, nodes, unknown, inLoops };
}

function isRepeated(node: Node): boolean {
  for (let owner = node.graph.owner; owner; owner = owner.graph.owner) if (!owner.is("If")) return true;
  return false;
}

/** Queries and keys, then weights and values: [..., heads, length, size], or [batch, length, heads * size]. */
function attention({ inputs: [query, key, , , past], outputs: [result] }: Node): number | null {
  return product(sum(elements(query), elements(result)), sum(dim(key, -2), past ? dim(past, -2) : 0));
}

/** Each step of each sequence meets every weight once; the first two axes of x are the steps and the batch. */
function recurrent({ inputs: [x, w, r] }: Node): number | null {
  const rows = product(dim(x, 0), dim(x, 1));
  return product(rows, sum(elements(w), elements(r)));
}

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

const product = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a * b);

function elements(value: Value | null | undefined): number | null {
  const shape: Shape | null = value?.shape ?? null;
  return isStatic(shape) ? elementCount(shape) : null;
}

/** Product of the dimensions from `axis` on. */
function tail(value: Value | null | undefined, axis: number): number | null {
  const dims = value?.shape?.slice(axis);
  return dims && isStatic(dims) ? elementCount(dims) : null;
}

function dim(value: Value | null | undefined, axis: number): number | null {
  const size = value?.shape?.at(axis);
  return typeof size === "number" ? size : null;
}
