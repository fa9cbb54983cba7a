/**
 * x86 without VNNI adds the products of two neighbours in 16 bits, which saturate:
 *
 *   |255 * w[2i] + 255 * w[2i + 1]| <= 32767   for weights of one sign: |w[2i] + w[2i + 1]| <= 128
 *
 * Neighbours are counted along what is summed up for an output channel: the rows of a matrix, and the
 * places of a convolution's kernel with its input channels innermost (found by feeding ONNX Runtime's
 * kernels single pairs on such a processor). Weights of opposite sign cannot saturate, and a depthwise
 * convolution adds in 32 bits. Only channels that could saturate get a larger scale, and only as large
 * as they need: for most weights that keeps more than the 7 bits that are the usual advice.
 */
import { elementCount, type Node } from "../ir/index.js";

/** Largest sum of two weights of one sign that 255 times over still fits 16 bits. */
const LARGEST_SUM = 128;

export interface SummedWeight {
  readonly dims: readonly number[];
  /** Of the output channels: 0 or 1 of a matrix, 0 of a convolution's kernel. */
  readonly axis: number;
}

/** Whether the products of a node are added in pairs. */
export function addsPairs(node: Node, dims: readonly number[]): boolean {
  const group = node.int("group", 1);
  return group === 1 || group !== dims[0] || dims[1] !== 1;
}

/** Raises the scales of channels whose pairs could saturate, in place; returns how many. */
export function makeRoomForPairs(scales: Float32Array, weights: Float32Array, weight: SummedWeight): number {
  const { channels, stride, offsets } = layoutOf(weight);
  let raised = 0;
  for (let channel = 0; channel < channels; channel++) {
    const first = channel * stride;
    let largest = 0;
    for (let i = 0; i + 1 < offsets.length; i += 2) {
      largest = Math.max(largest, sumOf(weights[first + offsets[i]!]!, weights[first + offsets[i + 1]!]!));
    }
    const needed = largest / LARGEST_SUM;
    if (needed <= scales[channel]!) continue;
    scales[channel] = needed;
    raised++;
  }
  return raised;
}

/** Rounding may carry a pair one beyond what fits: then the weight that was rounded further from zero steps back. */
export function fitPairs(integers: Int8Array, weights: Float32Array, scales: Float32Array, weight: SummedWeight): void {
  const { channels, stride, offsets } = layoutOf(weight);
  const gained = (at: number, scale: number): number => Math.abs(integers[at]!) - Math.abs(weights[at]!) / scale;
  for (let channel = 0; channel < channels; channel++) {
    const first = channel * stride;
    const scale = scales[channel]!;
    for (let i = 0; i + 1 < offsets.length; i += 2) {
      const [a, b] = [first + offsets[i]!, first + offsets[i + 1]!];
      while (isBeyond(integers[a]!, integers[b]!)) {
        const further = gained(a, scale) >= gained(b, scale) ? a : b;
        integers[further]! -= Math.sign(integers[further]!);
      }
    }
  }
}

/** Channels in which a pair could saturate. */
export function saturableChannels(integers: Int8Array, weight: SummedWeight): number {
  const { channels, stride, offsets } = layoutOf(weight);
  let found = 0;
  for (let channel = 0; channel < channels; channel++) {
    const first = channel * stride;
    for (let i = 0; i + 1 < offsets.length; i += 2) {
      if (isBeyond(integers[first + offsets[i]!]!, integers[first + offsets[i + 1]!]!)) {
        found++;
        break;
      }
    }
  }
  return found;
}

/** Magnitude of a sum of one sign; 0 for weights of opposite signs, which take from each other. */
const sumOf = (a: number, b: number): number => (a * b > 0 ? Math.abs(a + b) : 0);

/** The same of two of 8 bits: those of opposite signs add up to 127 at most, so that signs need not be asked for. */
const isBeyond = (a: number, b: number): boolean => Math.abs(a + b) > LARGEST_SUM;

/** Where in memory the weights lie that are summed up for a channel: `channel * stride + offsets[i]`, in the order of sums. */
interface SumLayout {
  readonly channels: number;
  readonly stride: number;
  readonly offsets: Uint32Array;
}

function layoutOf({ dims, axis }: SummedWeight): SumLayout {
  const channels = dims[axis]!;
  const length = elementCount(dims) / Math.max(channels, 1);
  const offsets = new Uint32Array(length);
  if (axis === 1) {
    for (let i = 0; i < length; i++) offsets[i] = i * channels;
    return { channels, stride: 1, offsets };
  }
  const inputs = dims[1] ?? 1;
  const places = length / Math.max(inputs, 1);
  for (let i = 0; i < length; i++) offsets[i] = (i % inputs) * places + Math.floor(i / inputs);
  return { channels, stride: length, offsets };
}
