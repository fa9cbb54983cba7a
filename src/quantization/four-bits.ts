/**
 * Matrices in 4 bits with a scale and a zero point per block of rows and column:
 *
 *   w ~ (q - z) * s,  q and z in -8..7
 *
 * Rounding to the nearest within the block's own range is far from the best: a range that
 * is somewhat too small clips one weight and serves the others better. A few shrunken
 * ranges are tried, each with the scale that fits its integers best by least squares,
 * s = sum (q - z) w / sum (q - z)^2, and the one with the least squared error is kept.
 */
import { Tensor } from "../ir/index.js";
import type { WeightTensors } from "./weight-store.js";
import { roundHalfEven } from "./weights.js";

const LOW = -8;
const HIGH = 7;
/** Of the block's range. */
const SHRINKAGES = [1, 0.94, 0.88, 0.82, 0.76];

/** [k, n] to i4: scales and zero points are [ceil(k / block), n]. */
export function fourBitBlocks(tensor: Tensor, block: number): WeightTensors {
  const values = tensor.f32();
  const [k, n] = tensor.dims as [number, number];
  const blocks = Math.ceil(k / block);
  const integers = new Int8Array(values.length);
  const scales = new Float32Array(blocks * n);
  const zeroPoints = new Int8Array(blocks * n);
  const column = new Float32Array(block);
  const fit = new BlockFit(block);
  for (let b = 0; b < blocks; b++) {
    const rows = Math.min(block, k - b * block);
    for (let c = 0; c < n; c++) {
      for (let r = 0; r < rows; r++) column[r] = values[(b * block + r) * n + c]!;
      fit.to(column, rows);
      for (let r = 0; r < rows; r++) integers[(b * block + r) * n + c] = fit.integers[r]!;
      scales[b * n + c] = fit.scale;
      zeroPoints[b * n + c] = fit.zeroPoint;
    }
  }
  return {
    integers: packed([k, n], integers),
    scales: Tensor.f32([blocks, n], scales),
    zeroPoints: packed([blocks, n], zeroPoints),
  };
}

/** The best integers, scale and zero point of one block; used again for the next. */
class BlockFit {
  scale = 1;
  zeroPoint = 0;
  integers: Int8Array;
  #trial: Int8Array;

  constructor(size: number) {
    this.integers = new Int8Array(size);
    this.#trial = new Int8Array(size);
  }

  to(values: Float32Array, count: number): void {
    let low = 0;
    let high = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    this.scale = 1;
    this.zeroPoint = 0;
    if (high === low) {
      this.integers.fill(0);
      return;
    }
    let least = Number.POSITIVE_INFINITY;
    for (const shrinkage of SHRINKAGES) {
      const step = ((high - low) * shrinkage) / (HIGH - LOW);
      const zero = Math.max(LOW, Math.min(HIGH, Math.round(LOW - (low * shrinkage) / step)));
      const { scale, error } = this.#try(values, count, step, zero);
      if (error >= least) continue;
      least = error;
      this.scale = scale;
      this.zeroPoint = zero;
      [this.integers, this.#trial] = [this.#trial, this.integers];
    }
  }

  #try(values: Float32Array, count: number, step: number, zero: number): { scale: number; error: number } {
    let product = 0;
    let square = 0;
    let energy = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      const integer = Math.max(LOW, Math.min(HIGH, roundHalfEven(value / step) + zero));
      this.#trial[i] = integer;
      product += (integer - zero) * value;
      square += (integer - zero) ** 2;
      energy += value * value;
    }
    // A block whose integers are all zero keeps the step: any scale is as good.
    const scale = Math.fround(square > 0 ? product / square : step);
    return {
      scale: scale > 0 ? scale : Math.fround(step),
      error: energy - 2 * scale * product + scale * scale * square,
    };
  }
}

/** Two to a byte, the first in the lower half. */
function packed(dims: readonly number[], integers: Int8Array): Tensor {
  const bytes = new Uint8Array(Math.ceil(integers.length / 2));
  for (let i = 0; i < integers.length; i++) bytes[i >> 1]! |= (integers[i]! & 15) << ((i & 1) * 4);
  return Tensor.fromBytes("i4", dims, bytes);
}
