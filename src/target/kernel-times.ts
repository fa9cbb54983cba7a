/**
 * What a node takes in float and as static integers, by its shape. Which regions of a model pay as
 * integers follows from these numbers alone, so the same model gets the same integers each time,
 * whatever else the machine does; the profile of two models would flip whatever lies on the edge.
 *
 * Each kernel is a sum of a few terms: multiplications, with what is padded to whole vectors among them;
 * elements written; pointers to what a window reads; weights, where they do not stay in the cache from run
 * to run; what a call takes. The constants are fitted to 430 convolutions and 110 products of all shapes, each
 * run on its own between two others, and to 1,100 regions of 27 models (classifiers, detectors, text), by
 * ONNX Runtime 1.30 on one core of a Zen 4 with AVX-512 VNNI: half of the predictions are within 6 %. Only
 * ratios are used, and they hold for other processors with VNNI, whose kernels are faster or slower together.
 */

import { ownEntry } from "../base/own-entry.js";
import { elementCount, type Node } from "../ir/index.js";

/** Elements of one sample that a node reads as activations, the largest of them, and that it makes. */
export interface NodeElements {
  readonly read: number;
  /** 0 where that is not known: then it is told from what is read. */
  readonly made: number;
  /** Of all weights of the model: few of them are still near when they are read again. */
  readonly weights: number;
}

export interface KernelTime {
  readonly floatMs: number;
  readonly integerMs: number;
}

export interface KernelTimes {
  /** Null for what is not in the table. */
  readonly node: (node: Node, elements: NodeElements) => KernelTime | null;
  /**
   * What converting a tensor between integers and float takes.
   *
   * @param integer what makes the region integers that is at the one end
   * @param floats at the other end: what makes the tensor, or what reads it; none where it is an input or output
   */
  readonly conversionMs: (elements: number, integer: Node, floats: readonly Node[]) => number;
  /** What an activation takes that float kernels compute on the way, and integer ones leave to others. */
  readonly activationMs: (activation: Node, elements: number) => number;
  /** Input channels that a Conv is best given as integers: its own, or more, with zeros for weights. */
  readonly paddedDepth: (conv: Node) => number;
}

/** Values in one vector: kernels work on whole ones. */
const LANES = 16;
/** Products that VNNI adds up at once. */
const QUADS = 4;

const padded = (count: number, to: number): number => Math.ceil(count / to) * to;

/** Nanoseconds. */
const fromNanos = (floatNs: number, integerNs: number): KernelTime => ({
  floatMs: floatNs * 1e-6,
  integerMs: integerNs * 1e-6,
});

/** Of a product's kernel, and of another's: to begin with. */
const PRODUCT_NS = [2900, 3900] as const;
const OTHER_NS = [2000, 3900] as const;

/** What such processors have next to each core. */
const CACHE_BYTES = 2 ** 20;
const isFar = (weights: number, bytesOfEach: number): boolean => weights * bytesOfEach > CACHE_BYTES;

/** Of one more node, and of the loop around it; then for each element to convert it, to put channels last, to put them in blocks. */
const NODE_NS = 3000;
const [CONVERTED_NS, MOVED_NS, BLOCKED_NS] = [0.13, 0.07, 0.1];
/** In float they have channels in blocks of whole vectors; integer convolutions have them last. */
const inBlocks = /^(Conv|MaxPool|AveragePool|GlobalAveragePool|GlobalMaxPool)$/;

/** For each element, [float, integer]: of an Add, the float kernel of the convolution before it takes care. */
const others: Readonly<Record<string, readonly [float: number, integer: number]>> = {
  Add: [0.02, 0.16],
  Mul: [0.16, 0.33],
  Sigmoid: [0.3, 0.17],
  LeakyRelu: [0.1, 0.17],
  Softmax: [0.9, 1.2],
  Concat: [0.15, 0.15],
  Where: [0.3, 0.3],
  GlobalAveragePool: [0.11, 0.07],
  ReduceMean: [0.11, 0.07],
  AveragePool: [0.3, 0.8],
  MaxPool: [0.3, 0.3],
  ReduceMax: [0.3, 0.3],
  Transpose: [1, 0.28],
  Split: [0.1, 0.05],
  Slice: [0.1, 0.05],
  Gather: [0.1, 0.05],
  Tile: [0.1, 0.05],
  Resize: [0.3, 0.3],
};
/** They hand on what they get. */
const free = new Set(["Reshape", "Flatten", "Squeeze", "Unsqueeze"]);

function nodeTime(node: Node, elements: NodeElements): KernelTime | null {
  if (node.domain !== "" || elements.read <= 0) return null;
  if (node.op === "Conv") return convolution(node, elements);
  if (node.op === "MatMul" || node.op === "Gemm") return product(node, elements);
  if (free.has(node.op)) return fromNanos(0, 0);
  const rates = ownEntry(others, node.op);
  if (!rates) return null;
  const most = Math.max(elements.read, elements.made);
  return fromNanos(OTHER_NS[0] + rates[0] * most, OTHER_NS[1] + rates[1] * most);
}

function conversionMs(elements: number, integer: Node, floats: readonly Node[]): number {
  const isMoved = integer.is("Conv");
  const isBlocked = isMoved && floats.some(({ domain, op }) => domain === "" && inBlocks.test(op));
  const rates = [CONVERTED_NS, ...(isMoved ? [MOVED_NS] : []), ...(isBlocked ? [BLOCKED_NS] : [])];
  return rates.reduce((sum, rate) => sum + NODE_NS + rate * elements, 0) * 1e-6;
}

/** Of activations without an integer kernel: nodes that the runtime makes of them, and what they take for each element. */
const activations: Readonly<Record<string, readonly [nodes: number, rate: number]>> = {
  HardSwish: [2, 0.41],
  HardSigmoid: [1, 0.2],
  Tanh: [1, 0.4],
};

function activationMs({ domain, op }: Node, elements: number): number {
  const found = domain === "" ? ownEntry(activations, op) : undefined;
  return found ? (found[0] * NODE_NS + found[1] * elements) * 1e-6 : 0;
}

/** On x86 with VNNI. */
export const vnniKernelTimes: KernelTimes = { node: nodeTime, conversionMs, activationMs, paddedDepth };

/** Windows of each channel, those of groups, and those of all channels have different inner loops. */
function convolution(node: Node, { read, made, weights: all }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (!dims || dims.length < 3 || elementCount(dims) === 0) return null;
  const [channels, depth, ...kernel] = dims as [number, number, ...number[]];
  const groups = node.int("group", 1);
  const strides = node.ints("strides") ?? kernel.map(() => 1);
  const taps = elementCount(kernel);
  const places = made > 0 ? made / channels : read / (depth * groups) / elementCount(strides);
  const written = places * channels;
  const weights = elementCount(dims);
  const lanes = places * padded(channels, LANES);
  const isFloatFar = isFar(all, 4);
  if (groups > 1 && depth === 1) {
    // Whole vectors of channels have a kernel of their own.
    const isAligned = channels % LANES === 0;
    return fromNanos(
      PRODUCT_NS[0] + 0.0185 * lanes * taps + (isFloatFar ? 0.23 : 0.06) * lanes + 0.015 * read,
      PRODUCT_NS[1] +
        0.026 * lanes * taps +
        (isAligned ? 0 : 0.038) * written * taps +
        0.14 * written +
        0.6 * places * taps,
    );
  }
  // A point reads its inputs where they lie; a window has a pointer to each of its places, or copies of them.
  const isPoint = taps === 1 && elementCount(strides) === 1;
  const [floatFar, integerFar] = [isFloatFar ? 0.18 * weights : 0, isFar(all, 1) ? 0.072 * weights : 0];
  if (groups > 1) {
    const isBlocked = depth % LANES === 0;
    const gathered = places * groups * (2.5 + 3.6 * taps);
    const multiplied = groups * places * padded(channels / groups, LANES) * padded(depth * taps, QUADS);
    return fromNanos(
      PRODUCT_NS[0] +
        (isBlocked ? 0.017 : 0.084) * written * depth * taps +
        (isBlocked ? 4 * places * taps : 0.23 * places * taps * groups + 0.04 * read * taps) +
        floatFar,
      PRODUCT_NS[1] + 0.0049 * multiplied + 0.05 * written + gathered + 0.056 * read + integerFar,
    );
  }
  const isShort = depth < LANES;
  const floatNs = isShort
    ? 0.0165 * lanes * depth * taps + 0.024 * lanes * depth + (isFloatFar ? 0.15 : 0.03) * lanes + 0.3 * read
    : 0.0172 * lanes * padded(depth, LANES) * taps + 0.064 * lanes;
  const integerNs = places * integerPlaceNs(channels, depth, taps, isPoint);
  return fromNanos(PRODUCT_NS[0] + floatNs + floatFar, PRODUCT_NS[1] + integerNs + integerFar);
}

/** Of one place that an integer convolution in one group writes, all its channels. */
function integerPlaceNs(channels: number, depth: number, taps: number, isPoint: boolean): number {
  const lanes = padded(channels, LANES);
  // Fours of inputs and whole vectors of outputs are multiplied without gathering them first.
  const isDirect = depth % QUADS === 0 && channels >= LANES;
  return isDirect
    ? 0.0044 * lanes * depth * taps + 0.08 * channels + (isPoint ? 0.6 : 3.2 + taps * (0.4 + 0.004 * depth))
    : 0.0047 * lanes * padded(depth * taps, QUADS) + 0.25 * channels + 12 + taps * (0.65 + 0.035 * depth);
}

/** For each element of an image with channels added: to write it, and to put more channels last. */
const ADDED_NS = 0.08;
/** Of the time without more channels, the most that it may take with them: they are one more node. */
const ADDED_SHARE = 0.85;
/** Of a size that is free: enough for one more node not to matter. */
const FREE_SIZE = 100;

/**
 * The images that models are given have one channel or three. Elsewhere a tensor lies with its channels last already,
 * where adding some means writing it place by place. Placement does not count on it: what is saved is little, and too
 * little to round an image for that could stay float.
 */
function paddedDepth(conv: Node): number {
  const [input, weight] = conv.inputs;
  const dims = weight?.constant?.dims;
  if (!input || input.producer || input.constant || dims?.length !== 4) return dims?.[1] ?? 0;
  const [channels, depth, ...kernel] = dims as [number, number, number, number];
  if (conv.int("group", 1) !== 1 || elementCount(dims) === 0) return depth;
  const given = padded(depth, QUADS);
  const taps = elementCount(kernel);
  const strides = elementCount(conv.ints("strides") ?? [1, 1]);
  const isPoint = taps === 1 && strides === 1;
  const sizes = conv.output.shape?.slice(2) ?? ["H", "W"];
  const places = elementCount(sizes.map((dim) => (typeof dim === "number" ? dim : FREE_SIZE)));
  const addedNs = ADDED_NS * given * strides + NODE_NS / Math.max(1, places);
  const withMore = integerPlaceNs(channels, given, taps, isPoint) + addedNs;
  return withMore < ADDED_SHARE * integerPlaceNs(channels, depth, taps, isPoint) ? given : depth;
}

function product(node: Node, { read, weights: all }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (dims?.length !== 2) return null;
  const [depth, columns] =
    node.op === "Gemm" && node.int("transB", 0) !== 0 ? [dims[1]!, dims[0]!] : [dims[0]!, dims[1]!];
  if (depth === 0 || columns === 0) return null;
  const rows = read / depth;
  const weights = depth * columns;
  return fromNanos(
    PRODUCT_NS[0] + 0.0157 * rows * weights + 0.06 * rows * columns + (isFar(all, 4) ? 0.2 : 0.02) * weights,
    PRODUCT_NS[1] +
      0.004 * rows * padded(columns, LANES) * padded(depth, QUADS) +
      0.14 * rows * columns +
      (isFar(all, 1) ? 0.072 : 0.01) * weights,
  );
}
