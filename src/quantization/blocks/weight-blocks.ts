/**
 * Matrices [k, n] as integers with a scale and a zero point per block of rows and column,
 * as a DequantizeLinear with `block_size` widens them:
 *
 *   w ~ (q - z) * s      s and z [ceil(k / block), n]
 *
 * Each block is fitted on its own (block-fit.ts); where it is known which inputs come together,
 * the errors of one column are then set off against one another (round-together.ts).
 */
import { Tensor } from "../../ir/index.js";
import type { WeightTensors } from "../weight-store.js";
import { BlockFit, type IntegerRange } from "./block-fit.js";
import { type Gram, meanSquare, roundTogether } from "./round-together.js";

export type BlockBits = 4 | 8;

export interface BlockForm {
  /** Rows of a block. */
  readonly size: number;
  readonly range: IntegerRange;
}

/** What the runtime's kernels take, and are fast with. */
export const blockForms: Readonly<Record<BlockBits, BlockForm>> = {
  4: { size: 32, range: { low: -8, high: 7, isSymmetric: false } },
  8: { size: 128, range: { low: -127, high: 127, isSymmetric: true } },
};

/**
 * Of a block of zeros. Kernels that round activations add up products before they take off the zero point: what is left of that is
 * as small as the scale, which beside the others' must be nothing.
 */
const ZERO_SCALE = 2 ** -60;

/** A matrix as integers, before it is packed. */
export interface Blocks {
  readonly k: number;
  readonly n: number;
  readonly size: number;
  readonly range: IntegerRange;
  /** [k, n]. */
  readonly integers: Int8Array;
  /** [ceil(k / size), n]. */
  readonly scales: Float32Array;
  readonly zeroPoints: Int8Array;
}

/** @param gram of the inputs, where it is known */
export function weightBlocks(tensor: Tensor, bits: BlockBits, gram: Gram | null = null): WeightTensors {
  const [k, n] = tensor.dims as [number, number];
  const { size, range } = blockForms[bits];
  const values = tensor.f32();
  const known = gram && gram.channels === k && isUsable(gram) ? gram : null;
  const blocks = nearest(values, k, n, size, range, known);
  if (known) roundTogether(blocks, values, known);
  const count = Math.ceil(k / size);
  const pack = (dims: readonly number[], integers: Int8Array): Tensor =>
    bits === 4 ? packed(dims, integers) : Tensor.ofArray("i8", dims, integers);
  return {
    integers: pack([k, n], blocks.integers),
    scales: Tensor.f32([count, n], blocks.scales),
    zeroPoints: pack([count, n], blocks.zeroPoints),
  };
}

function nearest(
  values: Float32Array,
  k: number,
  n: number,
  size: number,
  range: IntegerRange,
  gram: Gram | null,
): Blocks {
  const count = Math.ceil(k / size);
  const integers = new Int8Array(values.length);
  const scales = new Float32Array(count * n);
  const zeroPoints = new Int8Array(count * n);
  const column = new Float32Array(size);
  const fit = new BlockFit(size, range);
  for (let b = 0; b < count; b++) {
    const rows = Math.min(size, k - b * size);
    const importance = importanceOf(gram, b * size, rows);
    for (let c = 0; c < n; c++) {
      for (let r = 0; r < rows; r++) column[r] = values[(b * size + r) * n + c]!;
      fit.to(column, importance, rows);
      for (let r = 0; r < rows; r++) integers[(b * size + r) * n + c] = fit.integers[r]!;
      scales[b * n + c] = fit.isZero ? ZERO_SCALE : fit.scale;
      zeroPoints[b * n + c] = fit.zeroPoint;
    }
  }
  return { k, n, size, range, integers, scales, zeroPoints };
}

/** Something came in, and it was numbers. */
function isUsable(gram: Gram): boolean {
  const mean = meanSquare(gram);
  return mean > 0 && Number.isFinite(mean);
}

/** Inputs that are nearly always zero still count a little: other samples may have them. */
const LEAST_IMPORTANCE = 0.01;

function importanceOf(gram: Gram | null, from: number, rows: number): Float64Array {
  const importance = new Float64Array(rows).fill(1);
  if (!gram) return importance;
  const { channels, products } = gram;
  const mean = meanSquare(gram);
  return importance.map((_, r) => products[(from + r) * (channels + 1)]! / mean + LEAST_IMPORTANCE);
}

/** Two to a byte, the first in the lower half. */
function packed(dims: readonly number[], integers: Int8Array): Tensor {
  const bytes = new Uint8Array(Math.ceil(integers.length / 2));
  for (let i = 0; i < integers.length; i++) bytes[i >> 1]! |= (integers[i]! & 15) << ((i & 1) * 4);
  return Tensor.fromBytes("i4", dims, bytes);
}
