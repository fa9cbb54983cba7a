/**
 * Integers, scale and zero point of one block of weights: w ~ (q - z) * s.
 *
 * Rounding to the nearest within the block's own range is far from the best for few bits: a
 * range that is somewhat too small clips one weight and serves the others better. A few
 * shrunken ranges are tried, each with the scale that fits its integers best by least squares,
 * s = sum h (q - z) w / sum h (q - z)^2, and the one with the least squared error is kept. h says
 * how much an error of each weight matters: the mean square of what it is multiplied by.
 */
import { roundHalfEven } from "../weights.js";

/** The integers there are, from lowest to highest. */
export interface IntegerRange {
  readonly low: number;
  readonly high: number;
  /** The zero point is 0, where the kernel has no other. */
  readonly isSymmetric: boolean;
}

/** Of the block's range. */
const SHRINKAGES = [1, 0.94, 0.88, 0.82, 0.76];

/** Used again for one block after the other. */
export class BlockFit {
  /** Of no matter where all weights are 0. */
  scale = 1;
  isZero = false;
  zeroPoint = 0;
  integers: Int8Array;
  #trial: Int8Array;

  constructor(
    size: number,
    readonly range: IntegerRange,
  ) {
    this.integers = new Int8Array(size);
    this.#trial = new Int8Array(size);
  }

  to(values: Float32Array, importance: Float64Array, count: number): void {
    let low = 0;
    let high = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    this.scale = 1;
    this.zeroPoint = 0;
    this.integers.fill(0);
    this.isZero = high === low;
    if (this.isZero) return;
    let least = Number.POSITIVE_INFINITY;
    for (const shrinkage of SHRINKAGES) {
      const { step, zero } = this.#steps(low * shrinkage, high * shrinkage);
      const { scale, error } = this.#try(values, importance, count, step, zero);
      if (!(error < least)) continue;
      least = error;
      this.scale = scale;
      this.zeroPoint = zero;
      [this.integers, this.#trial] = [this.#trial, this.integers];
    }
  }

  #steps(low: number, high: number): { step: number; zero: number } {
    const { range } = this;
    if (range.isSymmetric) return { step: Math.max(-low, high) / range.high, zero: 0 };
    const step = (high - low) / (range.high - range.low);
    return { step, zero: Math.max(range.low, Math.min(range.high, Math.round(range.low - low / step))) };
  }

  #try(
    values: Float32Array,
    importance: Float64Array,
    count: number,
    step: number,
    zero: number,
  ): { scale: number; error: number } {
    const { low, high } = this.range;
    let product = 0;
    let square = 0;
    let energy = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      const weight = importance[i]!;
      const integer = Math.max(low, Math.min(high, roundHalfEven(value / step) + zero));
      this.#trial[i] = integer;
      product += weight * (integer - zero) * value;
      square += weight * (integer - zero) ** 2;
      energy += weight * value * value;
    }
    // A block whose integers are all zero keeps the step: any scale is as good.
    const scale = Math.fround(square > 0 ? product / square : step);
    const used = scale > 0 ? scale : Math.fround(step);
    return { scale: used, error: energy - 2 * used * product + used * used * square };
  }
}
