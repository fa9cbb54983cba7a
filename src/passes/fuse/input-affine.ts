/**
 * A linear node whose input went through x * s + t, one number or one per input channel:
 *
 *   W'[m, c] = W[m, c] * s[c]        b'[m] = b[m] + sum over c of W[m, c] * t[c]
 */
import { elementCount, type Tensor } from "../../ir/index.js";
import type { ChannelLayout } from "./channel-affine.js";
import { type ChannelOrder, channelRooms, fillChannels, inTurn, STRETCH } from "./channel-order.js";
import { scaledTensor, tensorLike } from "./computed-tensor.js";
import { floatsOf, type Linear } from "./linear.js";

/** Where the channels lie in what a linear node reads, and which of them the elements of the weight belong to. */
export interface InputLayout extends ChannelLayout {
  readonly order: ChannelOrder;
}

/** Null for a Gemm that transposes its input. */
export function inputLayoutOf({ node, weightTensor, outputRank }: Linear): InputLayout | null {
  const { dims } = weightTensor;
  const [first = 1, second = 1, ...kernel] = dims;
  const volume = elementCount(kernel);
  const group = node.int("group", 1);
  const convolution = { weightTensor, channelAxis: 1 - dims.length, outputRank: dims.length };
  switch (node.op) {
    case "Conv": {
      // [M, C/group, ...kernel] reads [N, C, ...]
      const order = { run: volume, count: second, block: (volume * second * first) / group };
      return { ...convolution, channels: second * group, order };
    }
    case "ConvTranspose":
      // [C, M/group, ...kernel] reads [N, C, ...]
      return { ...convolution, channels: first, order: inTurn(volume * second, first) };
    case "Gemm": {
      // [K, N], or [N, K] when transposed, reads [M, K]
      if (node.int("transA", 0) !== 0) return null;
      const isTransposed = node.int("transB", 0) !== 0;
      const order = isTransposed ? inTurn(1, second) : inTurn(second, first);
      return { weightTensor, channels: order.count, order, channelAxis: -1, outputRank: 2 };
    }
    default:
      // [K, N] reads [..., K]
      return { weightTensor, channels: first, order: inTurn(second, first), channelAxis: -1, outputRank };
  }
}

/** The weight that takes in a factor of the input; null when it leaves the range of its type. */
export const weightOfScaled = (linear: Linear, layout: InputLayout, scale: Float64Array): Tensor | null =>
  scaledTensor(linear.weightTensor, scale, layout.order);

/** The bias that takes in an addend of the input, where nothing is padded; null when it leaves the range of its type. */
export function biasOfShifted(linear: Linear, layout: InputLayout, shift: Float64Array): Tensor | null {
  const sums = Float64Array.from(linear.bias);
  const alpha = linear.node.op === "Gemm" ? linear.node.float("alpha", 1) : 1;
  const weight = floatsOf(linear.weightTensor)!;
  const [into, from] = channelRooms();
  for (let at = 0; at < weight.length; at += STRETCH) {
    const count = Math.min(STRETCH, weight.length - at);
    fillChannels(linear.order, at, into, count);
    fillChannels(layout.order, at, from, count);
    addProducts(sums, into, weight.subarray(at, at + count), alpha, shift, from);
  }
  return tensorLike(linear.weightTensor.dtype, [sums.length], sums);
}

/** By itself, so that the engine optimizes this loop once and not what is around it, over and over. */
function addProducts(
  sums: Float64Array,
  into: Uint32Array,
  weight: Float32Array | Float64Array,
  alpha: number,
  shift: Float64Array,
  from: Uint32Array,
): void {
  const { length } = weight;
  for (let i = 0; i < length; i++) sums[into[i]!]! += alpha * weight[i]! * shift[from[i]!]!;
}

/** Whether every output of a Conv is computed from inputs alone. */
export function doesNotPad({ node }: Linear): boolean {
  const autoPad = node.string("auto_pad", "NOTSET");
  return autoPad === "VALID" || (autoPad === "NOTSET" && (node.ints("pads") ?? []).every((amount) => amount === 0));
}
