/**
 * A linear node whose input went through x * s + t, one number or one per input channel:
 *
 *   W'[m, c] = W[m, c] * s[c]        b'[m] = b[m] + sum over c of W[m, c] * t[c]
 */
import type { Tensor } from "../../ir/index.js";
import type { ChannelLayout } from "./channel-affine.js";
import { scaledTensor, tensorLike } from "./computed-tensor.js";
import { floatsOf, type Linear } from "./linear.js";

/** Where the channels lie in what a linear node reads, and to which one element i of the weight belongs. */
export interface InputLayout extends ChannelLayout {
  readonly channelOf: (i: number) => number;
}

/** Null for a Gemm that transposes its input. */
export function inputLayoutOf({ node, weightTensor, outputRank }: Linear): InputLayout | null {
  const { dims } = weightTensor;
  const [first = 1, second = 1, ...kernel] = dims;
  const volume = kernel.reduce((product, dim) => product * dim, 1);
  const group = node.int("group", 1);
  const convolution = { weightTensor, channelAxis: 1 - dims.length, outputRank: dims.length };
  switch (node.op) {
    case "Conv": {
      // [M, C/group, ...kernel] reads [N, C, ...]
      const outputsPerGroup = first / group;
      const channelOf = (i: number): number =>
        Math.floor(i / (volume * second * outputsPerGroup)) * second + (Math.floor(i / volume) % second);
      return { ...convolution, channels: second * group, channelOf };
    }
    case "ConvTranspose":
      // [C, M/group, ...kernel] reads [N, C, ...]
      return { ...convolution, channels: first, channelOf: (i) => Math.floor(i / (volume * second)) };
    case "Gemm": {
      // [K, N], or [N, K] when transposed, reads [M, K]
      if (node.int("transA", 0) !== 0) return null;
      const isTransposed = node.int("transB", 0) !== 0;
      return {
        weightTensor,
        channels: isTransposed ? second : first,
        channelOf: isTransposed ? (i) => i % second : (i) => Math.floor(i / second),
        channelAxis: -1,
        outputRank: 2,
      };
    }
    default:
      // [K, N] reads [..., K]
      return { weightTensor, channels: first, channelOf: (i) => Math.floor(i / second), channelAxis: -1, outputRank };
  }
}

/** The weight that takes in a factor of the input; null when it leaves the range of its type. */
export const weightOfScaled = (linear: Linear, layout: InputLayout, scale: Float64Array): Tensor | null =>
  scaledTensor(linear.weightTensor, (i) => scale[layout.channelOf(i)]!);

/** The bias that takes in an addend of the input, where nothing is padded; null when it leaves the range of its type. */
export function biasOfShifted(linear: Linear, layout: InputLayout, shift: Float64Array): Tensor | null {
  const sums = Float64Array.from(linear.bias);
  const alpha = linear.node.op === "Gemm" ? linear.node.float("alpha", 1) : 1;
  floatsOf(linear.weightTensor)!.forEach((value: number, i: number) => {
    sums[linear.channelOf(i)]! += alpha * value * shift[layout.channelOf(i)]!;
  });
  return tensorLike(linear.weightTensor.dtype, [sums.length], sums);
}

/** Whether every output of a Conv is computed from inputs alone. */
export function doesNotPad({ node }: Linear): boolean {
  const autoPad = node.string("auto_pad", "NOTSET");
  return autoPad === "VALID" || (autoPad === "NOTSET" && (node.ints("pads") ?? []).every((amount) => amount === 0));
}
