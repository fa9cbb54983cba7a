/**
 * Layers whose output is linear in weights that the file holds, each seen as y = W x + b over groups of channels:
 *
 *   Conv            W[M, C/g, ...k]: x are the C/g channels of a group under the places of the kernel
 *   ConvTranspose   W[C, M/g, ...k]: the same, where x is spread over the places that it reaches
 *   Gemm, MatMul    one group; a constant Add behind a MatMul is its bias
 */
import { elementCount, type Model, type Node, soleReader, Tensor, type Value } from "../../ir/index.js";
import type { Linear } from "./moments.js";

export interface LinearLayer {
  readonly node: Node;
  /** What it multiplies. */
  readonly input: Value;
  readonly weight: Tensor;
  /** The node and input that hold the bias; null for a MatMul without one. */
  readonly bias: { readonly node: Node; readonly input: number; readonly tensor: Tensor | null } | null;
  /** What it makes, bias included, and the axis of its channels there. */
  readonly output: Value;
  readonly axis: number;
  readonly groups: number;
  /** Of a group: channels times places of the kernel, and channels made. */
  readonly inputs: number;
  readonly outputs: number;
  /** Places of the kernel; 1 for products of matrices. */
  readonly places: number;
}

const products = new Set(["Conv", "ConvTranspose", "Gemm", "MatMul"]);

/** Whether an operator is of those that are fitted, if its weights allow it. */
export const isLinear = (node: Node): boolean => node.domain === "" && products.has(node.op);

/** The layer that a node of the main graph is, or why it cannot be fitted. */
export function linearLayer(node: Node): LinearLayer | { readonly reason: string } {
  const [input, weight] = node.inputs;
  const tensor = weight?.constant;
  if (!input || !weight || !tensor) return { reason: "its weights are computed" };
  if (tensor.dtype !== "f32") return { reason: `its weights are ${tensor.dtype}` };
  if (weight.useCount > 1) return { reason: "it shares its weights with other nodes" };
  if (node.op === "MatMul") return matMul(node, input, tensor);
  if (node.op === "Gemm") return gemm(node, input, tensor);
  const [rows = 0, columns = 0, ...kernel] = tensor.dims;
  const places = elementCount(kernel);
  const groups = node.int("group", 1);
  if (kernel.length === 0 || rows % groups !== 0) return { reason: "its weights have no kernel" };
  const bias = biasOf(node, 2, node.op === "Conv" ? rows : columns * groups);
  if ("reason" in bias) return bias;
  const shared = { node, input, weight: tensor, bias, output: node.output, axis: 1, groups, places };
  return node.op === "Conv"
    ? { ...shared, inputs: columns * places, outputs: rows / groups }
    : { ...shared, inputs: (rows / groups) * places, outputs: columns };
}

function gemm(node: Node, input: Value, weight: Tensor): ReturnType<typeof linearLayer> {
  const isPlain = node.int("transA", 0) === 0 && node.float("alpha", 1) === 1 && node.float("beta", 1) === 1;
  if (!isPlain || weight.dims.length !== 2) return { reason: "its product is scaled or turned" };
  const [rows = 0, columns = 0] = weight.dims;
  const [outputs, inputs] = node.int("transB", 0) ? [rows, columns] : [columns, rows];
  const bias = biasOf(node, 2, outputs);
  if ("reason" in bias) return bias;
  return { node, input, weight, bias, output: node.output, axis: 1, groups: 1, inputs, outputs, places: 1 };
}

function matMul(node: Node, input: Value, weight: Tensor): ReturnType<typeof linearLayer> {
  if (weight.dims.length !== 2) return { reason: "its weights are several matrices" };
  const rank = input.shape?.length;
  if (rank === undefined || rank < 2) return { reason: "the rank of its input is unknown" };
  const [inputs = 0, outputs = 0] = weight.dims;
  const shared = { node, input, weight, axis: rank - 1, groups: 1, inputs, outputs, places: 1 };
  const add = soleReader(node.output);
  const at = add?.is("Add") ? add.inputs.findIndex((value) => value?.constant) : -1;
  const tensor = add?.inputs[at]?.constant;
  const isBias = tensor?.dtype === "f32" && tensor.elementCount === outputs && tensor.dims.at(-1) === outputs;
  if (!add || !isBias || tensor.dims.length > rank || add.inputs[at]!.useCount > 1) {
    return { ...shared, bias: null, output: node.output };
  }
  return { ...shared, bias: { node: add, input: at, tensor }, output: add.output };
}

function biasOf(node: Node, input: number, outputs: number): NonNullable<LinearLayer["bias"]> | { reason: string } {
  const value = node.inputs[input];
  if (!value) return { node, input, tensor: null };
  const { constant: tensor } = value;
  if (tensor?.dtype !== "f32") return { reason: "its bias is computed" };
  if (tensor.elementCount !== outputs || tensor.dims.at(-1) !== outputs)
    return { reason: "its bias is not one number a channel" };
  return { node, input, tensor };
}

/** Where in the tensor of the weights each of [groups, outputs, inputs] lies. */
function* places({ node, weight, groups, inputs, outputs, places: count }: LinearLayer): Generator<number> {
  const isTurned = node.op === "MatMul" || (node.op === "Gemm" && node.int("transB", 0) === 0);
  const columns = weight.dims[1]!;
  for (let g = 0; g < groups; g++) {
    for (let o = 0; o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        if (isTurned) yield i * outputs + o;
        else if (node.op !== "ConvTranspose") yield (g * outputs + o) * inputs + i;
        else {
          const channel = Math.floor((g * inputs + i) / count);
          yield (channel * columns + o) * count + (i % count);
        }
      }
    }
  }
}

/** Weights and bias; a bias of zeros where one could be added. */
export function readLinear(layer: LinearLayer): Linear {
  const { weight, bias, groups, outputs } = layer;
  const values = weight.f32();
  const weights = new Float64Array(values.length);
  let at = 0;
  for (const place of places(layer)) weights[at++] = values[place]!;
  return { weights, bias: bias && Float64Array.from(bias.tensor?.f32() ?? new Float32Array(groups * outputs)) };
}

/** Puts other weights and another bias in the place of a layer's. */
export function writeLinear(model: Model, layer: LinearLayer, { weights, bias }: Linear): void {
  const { graph } = model;
  const { node, weight } = layer;
  const values = new Float32Array(weights.length);
  let at = 0;
  for (const place of places(layer)) values[place] = weights[at++]!;
  replace(node, 1, Tensor.f32(weight.dims, values));
  if (layer.bias && bias)
    replace(layer.bias.node, layer.bias.input, Tensor.f32(layer.bias.tensor?.dims ?? [bias.length], bias));

  function replace(of: Node, input: number, tensor: Tensor): void {
    const old = of.inputs[input];
    graph.setInput(of, input, graph.addConstant(old?.label ?? `${of.displayName}/bias`, tensor));
    if (old && old.useCount === 0 && graph.constants.includes(old)) graph.removeConstant(old);
  }
}
