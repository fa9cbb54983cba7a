/**
 * The products that make a model's answers: nothing but single-minded operators lies between
 * them and an output. What integers have done to the answer can be corrected there.
 */
import type { Graph, Model, Node, Value } from "../../ir/index.js";
import { channelAxis, whyNotPlainGemm } from "../gemm.js";

export interface LastProduct {
  readonly node: Node;
  /** What it makes, and the axis of its channels there. */
  readonly value: Value;
  readonly axis: number;
  /** Axis of the weights that makes channels. */
  readonly weightAxis: number;
  readonly channels: number;
}

/** Operators with one activation among their inputs that are followed towards the input. */
const followed = new Set(
  (
    "Relu LeakyRelu Clip Sigmoid HardSigmoid HardSwish Tanh Softmax LogSoftmax Identity Flatten Reshape Squeeze Unsqueeze " +
    "Transpose GlobalAveragePool AveragePool MaxPool Cast"
  ).split(" "),
);

/** In the order of the outputs; those with weights and a bias (or none) that nobody else reads. */
export function lastProducts({ graph }: Model): readonly LastProduct[] {
  const found = new Map<Node, LastProduct>();
  for (const { value } of graph.outputs) {
    const product = lastProductOf(value, graph);
    if (product) found.set(product.node, product);
  }
  return [...found.values()];
}

/** Of one output's value; null where something else makes it. */
export function lastProductOf(value: Value, graph: Graph): LastProduct | null {
  let at: Node | null = value.producer;
  while (at?.domain === "" && followed.has(at.op)) at = at.inputs[0]?.producer ?? null;
  return at?.graph === graph ? asProduct(at) : null;
}

function asProduct(node: Node): LastProduct | null {
  if (node.domain !== "" || (node.op !== "Conv" && node.op !== "Gemm")) return null;
  const [, weight, bias] = node.inputs;
  if (!isOwn(weight) || (bias && !isOwn(bias))) return null;
  if (node.op === "Gemm" && whyNotPlainGemm(node) !== null) return null;
  const { dims } = weight.constant!;
  const weightAxis = channelAxis(node);
  const channels = dims[weightAxis]!;
  if (node.output.shape === null || dims.length < 2) return null;
  if (bias && (bias.constant!.elementCount !== channels || bias.constant!.dims.at(-1) !== channels)) return null;
  return { node, value: node.output, axis: 1, weightAxis, channels };
}

const isOwn = (value: Value | null | undefined): value is Value =>
  value?.constant?.dtype === "f32" && value.useCount === 1;
