/**
 * Brings the weights of a layer that are not 0 to where the error |(W - W0) X|^2 is the least while the zeros stay: every
 * output is a problem of its own, too large to solve one by one. A few steps of conjugate gradients, scaled by the diagonal,
 * win most of what there is to win; several outputs go side by side, so that the Gram matrix is read once for all.
 */
import { ROWS_TOGETHER, rowsTimesGram } from "../refit/rows-times-gram.js";
import type { DenseGroup } from "./reconstruct.js";

/** More steps change little. */
const MOST_STEPS = 12;
/** Multiplications that they may take for one group of channels: seconds. */
const MOST_WORK = 6e9;
/** Of the error at first: what is left is not worth a step. */
const SOLVED = 1e-8;

/** Changes the weights, [outputs, inputs]. */
export function refine(weights: Float64Array, group: DenseGroup): void {
  const { inputs, outputs } = group;
  const steps = Math.min(MOST_STEPS, Math.floor(MOST_WORK / (outputs * inputs ** 2)));
  for (let from = 0; from < outputs && steps > 0; from += ROWS_TOGETHER) {
    new Rows(weights, group, from, Math.min(outputs, from + ROWS_TOGETHER)).descend(steps);
  }
}

class Rows {
  readonly count: number;
  /** Of each row of the block: where to go, and what the error's slope is. */
  readonly #direction: Float64Array;
  readonly #slope: Float64Array;
  readonly #image: Float64Array;
  /** Slope times scaled slope, by row. */
  readonly #steepness: Float64Array;
  readonly #isFree: Uint8Array;

  constructor(
    readonly weights: Float64Array,
    readonly group: DenseGroup,
    readonly from: number,
    to: number,
  ) {
    const { inputs } = group;
    this.count = to - from;
    const size = this.count * inputs;
    this.#direction = new Float64Array(size);
    this.#slope = new Float64Array(size);
    this.#image = new Float64Array(size);
    this.#steepness = new Float64Array(this.count);
    this.#isFree = Uint8Array.from({ length: size }, (_, i) => (weights[from * inputs + i] === 0 ? 0 : 1));
  }

  descend(steps: number): void {
    const { group, from, count, weights } = this;
    const { inputs } = group;
    const start = from * inputs;
    for (let i = 0; i < count * inputs; i++) this.#direction[i] = group.weights[start + i]! - weights[start + i]!;
    rowsTimesGram(this.#slope, this.#direction, 0, count, inputs, group.gram);
    this.#direction.fill(0);
    for (let row = 0; row < count; row++) this.#turn(row, 0);
    const enough = this.#steepness.map((value) => value * SOLVED);
    for (let step = 0; step < steps; step++) {
      if (this.#steepness.every((value, row) => !(value > enough[row]!))) break;
      rowsTimesGram(this.#image, this.#direction, 0, count, inputs, group.gram);
      for (let row = 0; row < count; row++) if (this.#steepness[row]! > enough[row]!) this.#step(row);
    }
  }

  #step(row: number): void {
    const { inputs } = this.group;
    const at = row * inputs;
    const to = (this.from + row) * inputs;
    let curvature = 0;
    for (let i = 0; i < inputs; i++) curvature += this.#direction[at + i]! * this.#image[at + i]!;
    if (!(curvature > 0)) {
      this.#steepness[row] = 0;
      return;
    }
    const length = this.#steepness[row]! / curvature;
    for (let i = 0; i < inputs; i++) {
      this.weights[to + i]! += length * this.#direction[at + i]!;
      this.#slope[at + i]! -= length * this.#image[at + i]!;
    }
    this.#turn(row, this.#steepness[row]!);
  }

  /** The next direction of a row; that of the slope itself where there was no step before. */
  #turn(row: number, before: number): void {
    const { inputs, gram } = this.group;
    const at = row * inputs;
    let after = 0;
    for (let i = 0; i < inputs; i++) {
      if (this.#isFree[at + i] === 0) this.#slope[at + i] = 0;
      after += this.#slope[at + i]! ** 2 / gram[i * (inputs + 1)]!;
    }
    const kept = before > 0 ? after / before : 0;
    for (let i = 0; i < inputs; i++)
      this.#direction[at + i] = this.#slope[at + i]! / gram[i * (inputs + 1)]! + kept * this.#direction[at + i]!;
    this.#steepness[row] = after;
  }
}
