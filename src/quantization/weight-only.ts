/**
 * Weights as integers, activations and arithmetic in float: smaller files for any operator
 * with constant weights. What widens them stands between weights and node; tables that are
 * looked up are widened row by row instead (embedding.ts, nibble-table.ts).
 *
 *   8 bits  Mul(Cast(w_i8), scale), one scale per output channel. The runtime computes this
 *           once, when it loads the model, so runs are as fast as with float weights;
 *           a DequantizeLinear it would compute in every run.
 *  16 bits  the same with i16: half the size, and no error to speak of
 *   4 bits  DequantizeLinear(w_i4, scale, zero_point), both per block of 32 along the reduced
 *           axis (opset 21): matrices on the right of a MatMul or Gemm, for which the runtime has a
 *           4-bit kernel (that of a Gemm must not be stored transposed); the rest gets 8 bits as above
 *  blocks   of 8 bits: DequantizeLinear(w_i8, scale) per block of 128, for the same matrices
 *
 * What the runtime makes of blocks is its MatMulNBits at accuracy level 4: it rounds each block of the
 * activations to 8 bits as well, with a scale of its own. That is faster than float, and it is an
 * error more than that of the weights: errors are measured with it, never without.
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
import { type BlockBits, type BlockForm, blockForms, weightBlocks } from "./blocks/weight-blocks.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { isLookUp, quantizeEmbedding } from "./embedding.js";
import { channelAxis, isTurnedGemm, whyNotPlainGemm } from "./gemm.js";
import { type NodeChoice, takesAll } from "./node-choice.js";
import type { FloatNode } from "./plan-static.js";
import { productWeight, removeUnreadTranspose } from "./product-weight.js";
import { type StoredWeight, WeightStore, type WeightTensors } from "./weight-store.js";
import { matrixOf, quantizeWeight, weightScales } from "./weights.js";

export type WeightBits = 16 | 8 | 4;

export interface WeightOnlyOptions extends NodeChoice {
  readonly bits: WeightBits;
  /** Matrices of 8 bits per block too, as those of 4 always are. */
  readonly inBlocks?: boolean;
  /** By `blocksKey`: blocks of weights, where they are known already. */
  readonly rounded?: ReadonlyMap<string, WeightTensors>;
  /** Weights that have integers already, whoever made them. */
  readonly store?: WeightStore;
}

export interface WeightOnlyReport {
  readonly quantized: readonly string[];
  /** Of them, those whose matrices or tables are in blocks. */
  readonly inBlocks: ReadonlySet<string>;
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
}

/** Least opset that blocks need. */
export const BLOCKS_OPSET = 21;

/** Weights with fewer elements are not worth a node of their own. */
const SMALLEST_WEIGHT = 1024;

export function quantizeWeights(model: Model, options: WeightOnlyOptions): WeightOnlyReport {
  const quantized: string[] = [];
  const float: FloatNode[] = [];
  const made: MadeWeights = {
    store: options.store ?? new WeightStore(),
    widened: new Map(),
    blocks: new Set(),
    nibbles: new Set(),
  };
  const { takes = takesAll } = options;
  const inParts = readInParts(model, takes);
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
      quantized.push(node.name);
      const bits = options.bits === 4 && !inParts.has(node.inputs[0]!) ? 4 : 8;
      const had = quantizeEmbedding(node, made.store, bits, opsetOf(model));
      if (had === 4) made.nibbles.add(node.name);
      continue;
    }
    const before = quantized.length;
    for (const slot of slots!) {
      if (!isWeight(weightAt(node, slot))) continue;
      const isInParts = inParts.has(weightAt(node, slot)!);
      replaceWeight(node, slot, isInParts ? inChannels(options) : options, opsetOf(model), made);
      if (quantized.at(-1) !== node.name) quantized.push(node.name);
    }
    if (quantized.length === before)
      float.push({ node: node.name, op: node.op, reason: whyNoWeights(slots!.map((slot) => weightAt(node, slot))) });
  }
  removeUnreadConstants(model.graph);
  return {
    quantized,
    inBlocks: new Set([...made.blocks, ...made.nibbles]),
    float,
    notes: made.blocks.size > 0 ? [blocksNote(made.blocks.size)] : [],
  };
}

/**
 * Weights that some of their readers can read in blocks, and others cannot: they would be stored twice. Tables that are looked up in
 * are read in rows, which products have in common with them where these are their channels.
 */
function readInParts(model: Model, takes: (node: Node) => boolean): ReadonlySet<Value> {
  const ways = new Map<Value, Set<boolean>>();
  const tables = new Set<Value>();
  const inColumns = new Set<Value>();
  for (const node of [...nodesWithin(model.graph)].filter(takes)) {
    if (isLookUp(node)) tables.add(node.inputs[0]!);
    for (const slot of (node.domain === "" && ownEntry(weightInputs, node.op)) || []) {
      const weight = weightAt(node, slot);
      if (!weight?.constant) continue;
      ways.set(weight, (ways.get(weight) ?? new Set()).add(slot === 1 && takesBlocks(node)));
      if (channelsAt(node, slot, weight) !== 0) inColumns.add(weight);
    }
  }
  for (const table of tables) if (!inColumns.has(table)) ways.get(table)?.add(false);
  return new Set([...ways].filter(([, each]) => each.size > 1).map(([weight]) => weight));
}

/** The axis of a weight along which each has a scale where it is in no blocks. */
const channelsAt = (node: Node, slot: number, weight: Value): number =>
  node.inputs[slot] === weight ? outputAxis(node, slot, weight.constant!) : 0;

/** The same without blocks. */
const inChannels = (options: WeightOnlyOptions): WeightOnlyOptions => ({
  ...options,
  ...{ bits: options.bits === 16 ? 16 : 8, inBlocks: false },
});

/** What a node's weights are made of: with a Transpose between them, or none. */
const weightAt = (node: Node, slot: number): Value | null | undefined =>
  (slot === 1 && productWeight(node)?.value) || node.inputs[slot];

const isWeight = (value: Value | null | undefined): boolean => {
  const tensor = value?.constant;
  return tensor?.dtype === "f32" && tensor.dims.length >= 2 && tensor.elementCount >= SMALLEST_WEIGHT;
};

/** Where none of a node's is one that `isWeight`, told of the largest. */
function whyNoWeights(values: readonly (Value | null | undefined)[]): string {
  const constants = values.flatMap((value) => value?.constant ?? []);
  const [largest] = constants.sort((a, b) => b.elementCount - a.elementCount);
  if (!largest) return "no constant weights: all that it reads is computed";
  if (largest.dtype !== "f32") return `weights of type ${largest.dtype}`;
  if (largest.elementCount < SMALLEST_WEIGHT)
    return `${largest.elementCount} weights: below ${SMALLEST_WEIGHT} they are not worth a conversion of their own`;
  return `weights of rank ${largest.dims.length}`;
}

/** What was made of weights so far, for every node that reads them. */
interface MadeWeights {
  readonly store: WeightStore;
  /** By the integers: their float form. */
  readonly widened: Map<Value, Value>;
  /** Names of products whose weights are in blocks. */
  readonly blocks: Set<string>;
  /** Names of look-ups in tables of 4 bits. */
  readonly nibbles: Set<string>;
}

const blocksNote = (count: number): string =>
  `${count} products read blocks of weights: the runtime computes them at its accuracy level 4 (blocks of activations as int8), and errors were measured so`;

function replaceWeight(
  node: Node,
  slot: number,
  { bits, inBlocks = false, rounded }: WeightOnlyOptions,
  opset: number,
  made: MadeWeights,
): void {
  const { store, widened } = made;
  const weight = weightAt(node, slot)!;
  const turned = node.inputs[slot] === weight ? null : node.inputs[slot]!;
  const tensor = weight.constant!;
  const blockBits = opset >= BLOCKS_OPSET && slot === 1 && takesBlocks(node) ? blockBitsOf(bits, inBlocks) : null;
  const axis = channelsAt(node, slot, weight);
  const limit = bits === 16 ? 32767 : 127;
  const stored = store.of(
    weight,
    blockBits ? `blocks of ${blockBits} bits${isTurnedGemm(node) ? " turned" : ""}` : `axis ${axis} to ${limit}`,
    () =>
      blockBits
        ? (blockBits === 4 && rounded?.get(blocksKey(node))) || weightBlocks(blockMatrix(node), blockBits)
        : channels(tensor, axis, limit),
  );
  let float = widened.get(stored.integers);
  if (!float) {
    float = blockBits ? dequantized(node, weight, stored, blockForms[blockBits]) : multiplied(node, weight, stored);
    widened.set(stored.integers, float);
  }
  if (turned) turnAgain(node, slot, turned, float);
  else node.graph.setInput(node, slot, float);
  if (!blockBits) return;
  if (isTurnedGemm(node)) node.graph.removeAttribute(node, "transB");
  made.blocks.add(node.name);
  if (node.is("Gemm")) keepFromRelu(node);
}

/** Others may read what was turned, in float: the node gets a Transpose of its own. */
function turnAgain(node: Node, slot: number, turned: Value, float: Value): void {
  const { graph, name, attributes, provenance } = turned.producer!;
  const outputs = [{ label: `${float.label}/turned`, type: turned.type }];
  const before = ancestorIn(graph, node);
  const again = graph.addNode(
    { op: "Transpose", name: `${node.name}/${name}`, inputs: [float], attributes, outputs, provenance },
    before,
  );
  node.graph.setInput(node, slot, again.output);
  removeUnreadTranspose(turned);
}

/**
 * Relu(Gemm(x, w, b))  =>  Relu(Add(Gemm(x, w), b))
 *
 * The runtime would merge the Relu into the product before it looks for blocks, and widen them in every
 * run; the addend it takes into its kernel all the same.
 */
function keepFromRelu(node: Node): void {
  const [x, weight, bias] = node.inputs as [Value, Value, Value | null | undefined];
  const { graph, output } = node;
  if (!bias || !isReadByRelu(node)) return;
  const { label, shape } = output;
  const add = (op: string, inputs: Value[]): Value =>
    graph.addNode(
      {
        op,
        inputs,
        name: `${node.name}/${op}`,
        outputs: [{ label: `${label}/${op}`, type: { dtype: "f32", shape } }],
        provenance: node.provenance,
      },
      node,
    ).output;
  const result = add("Add", [add("Gemm", [x, weight]), bias]);
  graph.replaceUses(output, result);
  graph.removeNode(node);
  result.label = label;
}

/** A product for whose constant matrix the runtime has kernels that read blocks. */
export function takesBlocks(node: Node): boolean {
  const [, weight, bias] = node.inputs;
  if (weight?.constant?.dims.length !== 2 || !isWeight(weight)) return false;
  // Right before a Relu the runtime does not find them.
  if (!bias && isReadByRelu(node)) return false;
  if (node.is("MatMul")) return true;
  if (!node.is("Gemm") || whyNotPlainGemm(node) !== null) return false;
  if (!bias) return true;
  const width = weight.constant.dims[channelAxis(node)];
  return bias.constant?.dims.length === 1 && bias.constant.dims[0] === width;
}

const isReadByRelu = ({ output }: Node): boolean =>
  output.uses.some((use) => use.kind === "input" && use.node.is("Relu"));

/** The matrix [k, n] that blocks are made of. */
export function blockMatrix(node: Node): Tensor {
  const tensor = node.inputs[1]!.constant!;
  if (!isTurnedGemm(node)) return tensor;
  const { values, dims } = matrixOf(tensor, true);
  return Tensor.f32(dims, values);
}

/** Tells apart what readers of one weight make of it. */
export const blocksKey = (node: Node): string => `${node.inputs[1]!.label}${isTurnedGemm(node) ? " turned" : ""}`;

const blockBitsOf = (bits: WeightBits, inBlocks: boolean): BlockBits | null =>
  bits === 4 || (bits === 8 && inBlocks) ? bits : null;

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

function dequantized(node: Node, weight: Value, stored: StoredWeight, { size, range }: BlockForm): Value {
  const { integers, scale, zeroPoint } = stored;
  const inputs = range.isSymmetric ? [integers, scale] : [integers, scale, zeroPoint()];
  const attributes = { axis: attr.int(0), block_size: attr.int(size) };
  return adder(node, weight)({ op: "DequantizeLinear", inputs, attributes });
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
function outputAxis(node: Node, slot: number, tensor: Tensor): number {
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
