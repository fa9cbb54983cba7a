/**
 * What a node takes in float and as static integers, by its shape. Which regions of a model pay as
 * integers follows from these numbers alone, so the same model gets the same integers each time,
 * whatever else the machine does; the profile of two models would flip whatever lies on the edge.
 *
 * Each kernel is a sum of a few terms: multiplications, the lanes of the vectors that are left empty
 * among them; elements written; weights read; what a call takes. The constants are fitted to 750
 * regions of 27 models (classifiers, detectors, text) that ONNX Runtime 1.30 ran on one core of
 * a Zen 4 with AVX-512 VNNI: half of the predictions are within 6 %, and where integers and float were told
 * apart wrongly that cost less than 1 % of the model's time. Only ratios are used, and they hold for
 * other processors with VNNI, whose float and integer kernels are faster or slower together.
 */

import { ownEntry } from "../base/own-entry.js";
import type { Node } from "../ir/index.js";

/** Elements of one sample that a node reads as activations, the largest of them, and that it makes. */
export interface NodeElements {
  readonly read: number;
  /** 0 where that is not known: then it is told from what is read. */
  readonly made: number;
}

export interface KernelTime {
  readonly floatMs: number;
  readonly integerMs: number;
}

/** Null for what is not in the table. */
export type KernelTimes = (node: Node, elements: NodeElements) => KernelTime | null;

/** Values in one vector: kernels work on whole ones. */
const LANES = 16;
/** Products that VNNI adds up at once. */
const QUADS = 4;

const padded = (count: number, to: number): number => Math.ceil(count / to) * to;
const productOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** Nanoseconds. */
const fromNanos = (floatNs: number, integerNs: number): KernelTime => ({
  floatMs: floatNs * 1e-6,
  integerMs: integerNs * 1e-6,
});

/** Of a product's kernel, and of another's: to begin with. */
const PRODUCT_NS = [3000, 5500] as const;
const OTHER_NS = [2000, 4500] as const;

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

/** On x86 with VNNI. */
export const vnniKernelTimes: KernelTimes = (node, elements) => {
  if (node.domain !== "" || elements.read <= 0) return null;
  if (node.op === "Conv") return convolution(node, elements);
  if (node.op === "MatMul" || node.op === "Gemm") return product(node, elements);
  if (free.has(node.op)) return fromNanos(0, 0);
  const rates = ownEntry(others, node.op);
  if (!rates) return null;
  const most = Math.max(elements.read, elements.made);
  return fromNanos(OTHER_NS[0] + rates[0] * most, OTHER_NS[1] + rates[1] * most);
};

/** Per-channel kernels, those of groups, and those of all channels have different inner loops. */
function convolution(node: Node, { read, made }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (!dims || dims.length < 3 || productOf(dims) === 0) return null;
  const [channels, depth, ...kernel] = dims as [number, number, ...number[]];
  const groups = node.int("group", 1);
  const strides = node.ints("strides") ?? kernel.map(() => 1);
  const taps = productOf(kernel);
  const places = made > 0 ? made / channels : read / (depth * groups) / productOf(strides);
  const written = places * channels;
  const weights = productOf(dims);
  const lanes = places * padded(channels, LANES);
  if (groups > 1 && depth === 1) {
    return fromNanos(
      PRODUCT_NS[0] + 0.022 * lanes * taps + 0.193 * lanes,
      PRODUCT_NS[1] + 0.031 * lanes * taps + 0.091 * written + 0.7 * places * taps,
    );
  }
  // A point reads its inputs where they lie; for a window they are put side by side first, pieces of a vector more slowly.
  const isPoint = taps === 1 && productOf(strides) === 1;
  if (groups > 1) {
    const isBlocked = depth % LANES === 0;
    const gathered = isPoint ? 0 : 4.2 * places * taps * groups;
    return fromNanos(
      PRODUCT_NS[0] + 0.016 * written * depth * taps + (isBlocked ? 0.5 : 4.5) * written + 0.2 * weights,
      PRODUCT_NS[1] + 0.0049 * written * depth * taps + 0.1 * written + gathered + 0.072 * weights,
    );
  }
  const isShort = depth < LANES;
  const gathered = isPoint ? 0 : places * ((isShort ? 16 : 6) + 1.1 * taps);
  return fromNanos(
    PRODUCT_NS[0] + (isShort ? 0.021 : 0.016) * lanes * depth * taps + 0.195 * lanes + 0.2 * weights,
    PRODUCT_NS[1] + 0.0041 * lanes * padded(depth * taps, QUADS) + 0.1 * written + gathered + 0.072 * weights,
  );
}

function product(node: Node, { read }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (dims?.length !== 2) return null;
  const [depth, columns] =
    node.op === "Gemm" && node.int("transB", 0) !== 0 ? [dims[1]!, dims[0]!] : [dims[0]!, dims[1]!];
  if (depth === 0 || columns === 0) return null;
  const rows = read / depth;
  const weights = depth * columns;
  return fromNanos(
    PRODUCT_NS[0] + 0.0157 * rows * weights + 0.04 * rows * columns + 0.2 * weights,
    PRODUCT_NS[1] +
      0.004 * rows * padded(columns, LANES) * padded(depth, QUADS) +
      0.14 * rows * columns +
      0.072 * weights,
  );
}
