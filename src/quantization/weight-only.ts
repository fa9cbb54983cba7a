/**
 * Weights as integers, activations and arithmetic in float: smaller files for any operator
 * with constant weights. What widens them stands between weights and node; tables that are
 * looked up are widened row by row instead (embedding.ts).
 *
 *   8 bits  Mul(Cast(w_i8), scale), one scale per output channel. The runtime computes this
 *           once, when it loads the model, so runs are as fast as with float weights;
 *           a DequantizeLinear it would compute in every run.
 *  16 bits  the same with i16: half the size, and no error to speak of
 *   4 bits  DequantizeLinear(w_i4, scale, zero_point), both per block of 32 along the reduced
 *           axis (opset 21): matrices on the right of a MatMul, for which the runtime has a 4-bit
 *           kernel; the rest gets 8 bits
 */
import { ownEntry } from "../base/own-entry.js";
import {
  attr,
  type Graph,
  type Model,
  type NewNode,
  type Node,
  nodesWithin,
  opsetOf,
  Tensor,
  type Value,
} from "../ir/index.js";
import { weightInputs } from "../target/integer-kernels.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { isLookUp, quantizeEmbedding } from "./embedding.js";
import { fourBitBlocks } from "./four-bits.js";
import { type NodeChoice, takesAll } from "./node-choice.js";
import type { FloatNode } from "./plan-static.js";
import { type StoredWeight, WeightStore, type WeightTensors } from "./weight-store.js";
import { quantizeWeight, weightScales } from "./weights.js";

export type WeightBits = 16 | 8 | 4;

export interface WeightOnlyOptions extends NodeChoice {
  readonly bits: WeightBits;
}

export interface WeightOnlyReport {
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
}

/** Least opset that the form for so many bits needs. */
export const weightOnlyOpset = (bits: WeightBits): number => (bits === 4 ? 21 : 7);

/** Weights with fewer elements are not worth a node of their own. */
const SMALLEST_WEIGHT = 1024;
const BLOCK = 32;

export function quantizeWeights(model: Model, options: WeightOnlyOptions): WeightOnlyReport {
  const quantized: string[] = [];
  const float: FloatNode[] = [];
  const made: MadeWeights = { store: new WeightStore(), widened: new Map() };
  const { takes = takesAll } = options;
  for (const node of [...nodesWithin(model.graph)].filter(takes)) {
    const slots = node.domain === "" ? ownEntry(weightInputs, node.op) : undefined;
    const isTable = isLookUp(node);
    if (!slots && !isTable) continue;
    const kept = options.keepFloat?.get(node.name);
    if (kept) {
      float.push({ node: node.name, op: node.op, reason: kept });
      continue;
    }
    if (isTable) {
      quantizeEmbedding(node, made.store);
      quantized.push(node.name);
      continue;
    }
    const before = quantized.length;
    for (const slot of slots!) {
      if (!isWeight(node.inputs[slot])) continue;
      replaceWeight(node, slot, options.bits, opsetOf(model), made);
      if (quantized.at(-1) !== node.name) quantized.push(node.name);
    }
    if (quantized.length === before)
      float.push({ node: node.name, op: node.op, reason: "no constant f32 weights of that size" });
  }
  removeUnreadConstants(model.graph);
  return { quantized, float };
}

const isWeight = (value: Value | null | undefined): boolean => {
  const tensor = value?.constant;
  return tensor?.dtype === "f32" && tensor.dims.length >= 2 && tensor.elementCount >= SMALLEST_WEIGHT;
};

/** What was made of weights so far, for every node that reads them. */
interface MadeWeights {
  readonly store: WeightStore;
  /** By the integers: their float form. */
  readonly widened: Map<Value, Value>;
}

function replaceWeight(
  node: Node,
  slot: number,
  bits: WeightBits,
  opset: number,
  { store, widened }: MadeWeights,
): void {
  const weight = node.inputs[slot]!;
  const tensor = weight.constant!;
  const blocked = bits === 4 && opset >= 21 && node.is("MatMul") && tensor.dims.length === 2 && slot === 1;
  const axis = blocked ? 0 : channelAxis(node, slot, tensor);
  const limit = bits === 16 ? 32767 : 127;
  const stored = store.of(weight, blocked ? "blocks" : `axis ${axis} to ${limit}`, () =>
    blocked ? fourBitBlocks(tensor, BLOCK) : channels(tensor, axis, limit),
  );
  let float = widened.get(stored.integers);
  if (!float) {
    float = (blocked ? dequantized : multiplied)(node, weight, stored);
    widened.set(stored.integers, float);
  }
  node.graph.setInput(node, slot, float);
}

/** Beside its weight, also where a body reads it: the runtime refuses integers from an outer graph. */
function adder(node: Node, { graph, label }: Value): (spec: Pick<NewNode, "op" | "inputs" | "attributes">) => Value {
  const before = ancestorIn(graph, node); // nodes are visited in order, so this is the weight's first reader
  return ({ op, inputs, attributes }) =>
    graph.addNode(
      {
        op,
        inputs,
        name: `${node.name}/${label}/${op}`,
        outputs: [
          {
            label: `${label}/${op === "Cast" ? "cast" : "dequantized"}`,
            type: { dtype: "f32", shape: inputs[0]!.shape },
          },
        ],
        provenance: node.provenance,
        ...(attributes && { attributes }),
      },
      before,
    ).output;
}

function dequantized(node: Node, weight: Value, { integers, scale, zeroPoint }: StoredWeight): Value {
  const attributes = { axis: attr.int(0), block_size: attr.int(BLOCK) };
  return adder(node, weight)({ op: "DequantizeLinear", inputs: [integers, scale, zeroPoint()], attributes });
}

function multiplied(node: Node, weight: Value, { integers, scale }: StoredWeight): Value {
  const add = adder(node, weight);
  const float = add({ op: "Cast", inputs: [integers], attributes: { to: attr.int(1) } });
  return add({ op: "Mul", inputs: [float, scale] });
}

/** The node of `graph` that is `node` or holds it in a body. */
function ancestorIn(graph: Graph, node: Node): Node {
  let at = node;
  while (at.graph !== graph) at = at.graph.owner!;
  return at;
}

/**
 * The axis of the output channels: 0 of a Conv's weight [M, ...], 1 of a ConvTranspose's [C, M, ...] and
 * of recurrent ones [directions, gates * hidden, ...]; rows of a matrix on the left, columns of one on the right.
 */
function channelAxis(node: Node, slot: number, tensor: Tensor): number {
  const isLeft = slot === 0;
  switch (node.op) {
    case "MatMul":
      return tensor.dims.length - (isLeft ? 2 : 1);
    case "Gemm":
      return (node.int(isLeft ? "transA" : "transB", 0) !== 0) === isLeft ? 1 : 0;
    case "ConvTranspose":
      return 1;
    case "LSTM":
    case "GRU":
    case "RNN":
      return 1;
    default:
      return 0;
  }
}

function channels(tensor: Tensor, axis: number, limit: number): WeightTensors {
  const values = tensor.f32();
  const scales = weightScales(values, tensor.dims, axis, limit);
  const { integers } = quantizeWeight(values, tensor.dims, axis, scales, limit);
  const dims = tensor.dims.map((dim, i) => (i === axis ? dim : 1));
  return { integers, scales: Tensor.f32(dims, scales) };
}
