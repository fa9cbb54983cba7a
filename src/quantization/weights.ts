/** Weights and biases to integers: symmetric signed 8 bits, one scale per output channel. */
import { elementCount, Tensor } from "../ir/index.js";
import { fitPairs, makeRoomForPairs } from "./pair-sums.js";

export interface QuantizedWeight {
  /** i8, or i16 where the limit needs it; the dims of the original. */
  readonly integers: Tensor;
  /** One per index along the axis; one in all when the axis is null. Positive. */
  readonly scales: Float32Array;
}

/** A scale below this would leave float32's normal range once multiplied by an activation's. */
const LEAST_SCALE = 2 ** -60;

/**
 * The scales that let every weight fit: max |w| / limit per channel along `axis` of
 * `dims`, or one for the whole tensor. A channel of zeros takes the smallest scale of
 * the others, so that its bias keeps its resolution.
 * @param pairs whether sums of two products must fit 16 bits (pair-sums.ts); needs an axis
 */
export function weightScales(
  weights: Float32Array,
  dims: readonly number[],
  axis: number | null,
  limit: number,
  pairs = false,
): Float32Array {
  const { channels, inner } = layout(dims, axis);
  const largest = new Float64Array(channels);
  if (inner === 1) {
    for (let i = 0; i < weights.length; ) {
      for (let channel = 0; channel < channels; channel++, i++) {
        const magnitude = Math.abs(weights[i]!);
        if (magnitude > largest[channel]!) largest[channel] = magnitude;
      }
    }
  } else {
    forEachRun(weights.length, channels, inner, (channel, from, to) => {
      let max = largest[channel]!;
      for (let i = from; i < to; i++) {
        const magnitude = Math.abs(weights[i]!);
        if (magnitude > max) max = magnitude;
      }
      largest[channel] = max;
    });
  }
  let smallest = Number.POSITIVE_INFINITY;
  for (const max of largest) if (max > 0 && max < smallest) smallest = max;
  if (!Number.isFinite(smallest)) smallest = limit; // all zeros: any scale is exact
  const scales = Float32Array.from(largest, (max) => Math.max((max > 0 ? max : smallest) / limit, LEAST_SCALE));
  if (pairs && axis !== null) makeRoomForPairs(scales, weights, { dims, axis });
  return scales;
}

/** Rounds half to even, as QuantizeLinear does, and keeps within [-limit, limit]; `pairs` as it was for the scales. */
export function quantizeWeight(
  weights: Float32Array,
  dims: readonly number[],
  axis: number | null,
  scales: Float32Array,
  limit: number,
  pairs = false,
): QuantizedWeight {
  const { channels, inner } = layout(dims, axis);
  const integers = limit > 127 ? new Int16Array(weights.length) : new Int8Array(weights.length);
  if (inner === 1) {
    for (let i = 0; i < weights.length; ) {
      for (let channel = 0; channel < channels; channel++, i++) {
        const rounded = roundHalfEven(weights[i]! / scales[channel]!);
        integers[i] = Math.min(limit, Math.max(-limit, rounded));
      }
    }
  } else {
    forEachRun(weights.length, channels, inner, (channel, from, to) => {
      const scale = scales[channel]!;
      for (let i = from; i < to; i++) {
        const rounded = roundHalfEven(weights[i]! / scale);
        integers[i] = Math.min(limit, Math.max(-limit, rounded));
      }
    });
  }
  if (integers instanceof Int16Array) return { integers: Tensor.ofArray("i16", dims, integers), scales };
  if (pairs && axis !== null) fitPairs(integers, weights, scales, { dims, axis });
  return { integers: Tensor.ofArray("i8", dims, integers), scales };
}

/** The matrix [k, n] that a product multiplies by, of a weight that may be stored as [n, k]. */
export function matrixOf(tensor: Tensor, isTurned: boolean): { values: Float32Array; dims: readonly [number, number] } {
  const values = tensor.f32();
  const [rows, columns] = tensor.dims as [number, number];
  if (!isTurned) return { values, dims: [rows, columns] };
  const turned = new Float32Array(values.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) turned[c * rows + r] = values[r * columns + c]!;
  return { values: turned, dims: [columns, rows] };
}

/** Row r of a matrix times factors[r]; new. A loop of its own: with a function for each element it takes ten times as long. */
export function scaledRows(values: Float32Array, columns: number, factors: Float32Array): Float32Array {
  const scaled = new Float32Array(values.length);
  for (let row = 0, at = 0; at < values.length; row++) {
    const factor = factors[row]!;
    for (const end = at + columns; at < end; at++) scaled[at] = values[at]! * factor;
  }
  return scaled;
}

const LARGEST_INT32 = 2 ** 31 - 1;

/** Largest magnitude of the product of two integers of 8 bits. */
const LARGEST_PRODUCT = 255 * 127;

/**
 * Raises the scales of channels whose bias would not fit 32 bits at scale inputScale * weightScale, beside the products that it is
 * added to: kernels add up in 32 bits, and what is more wraps around. Returns the channels that were raised.
 *
 * @param products of each output
 */
export function makeRoomForBias(
  scales: Float32Array,
  bias: Float32Array,
  inputScale: number,
  products: number,
): number[] {
  const raised: number[] = [];
  const largest = Math.max(LARGEST_INT32 / 2, LARGEST_INT32 - products * LARGEST_PRODUCT);
  for (let channel = 0; channel < scales.length; channel++) {
    const needed = Math.abs(bias[channel]!) / (inputScale * largest);
    if (needed < scales[channel]!) continue;
    // One step of float32 more, since the product of the two scales is rounded.
    scales[channel] = needed * (1 + 2 ** -20);
    raised.push(channel);
  }
  return raised;
}

export interface QuantizedBias {
  /** i32, [M]. */
  readonly integers: Tensor;
  /** inputScale * weightScale, one per element. */
  readonly scales: Float32Array;
}

export function quantizeBias(bias: Float32Array, inputScale: number, scales: Float32Array): QuantizedBias {
  const product = scales.length === bias.length ? scales : new Float32Array(bias.length).fill(scales[0]!);
  const biasScales = Float32Array.from(product, (scale) => Math.fround(inputScale * scale));
  const integers = Int32Array.from(bias, (value, i) =>
    Math.min(LARGEST_INT32, Math.max(-LARGEST_INT32, roundHalfEven(value / biasScales[i]!))),
  );
  return { integers: Tensor.ofArray("i32", [bias.length], integers), scales: biasScales };
}

/** Adding it leaves no room for a fraction: the sum is rounded half to even, by the hardware. */
const noFraction = 1.5 * 2 ** 52;

/** As QuantizeLinear rounds. Values from 2^51 up, which are far out of any range of integers here, may lose their last bits. */
export const roundHalfEven = (value: number): number => value + noFraction - noFraction;

/** How channels lie in memory: runs of `inner` elements, channel after channel, again and again. Runs of 1, a matrix's columns, are worth loops of their own. */
function layout(dims: readonly number[], axis: number | null): { channels: number; inner: number } {
  if (axis === null) return { channels: 1, inner: elementCount(dims) };
  return { channels: dims[axis]!, inner: elementCount(dims.slice(axis + 1)) };
}

function forEachRun(
  count: number,
  channels: number,
  inner: number,
  visit: (channel: number, from: number, to: number) => void,
): void {
  if (inner === 0) return;
  for (let from = 0, run = 0; from < count; from += inner, run++) visit(run % channels, from, from + inner);
}
