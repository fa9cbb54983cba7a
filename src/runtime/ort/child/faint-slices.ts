/**
 * Parts of an output that are far smaller than the rest: scores beside boxes in pixels, rare classes beside the background. Figures
 * of the whole output say nothing of how they fare, so they get one of their own.
 */
import { elementCount, type Tensor } from "../../../ir/index.js";
import type { FaintSlices } from "../../port.js";

/** Along more than that a position is no kind of value of its own. */
const MOST_SLICES = 256;
/** Of the largest slice's power: a slice of a twentieth of its size has no say in the whole. */
const FAINT_POWER = 1 / 400;

export class FaintSum {
  #axis: number | null = null;
  #baseline = new Float64Array(0);
  #difference = new Float64Array(0);
  #isOver = false;

  /** Of float32; the slices are those of the first sample's shape, and outputs of other sizes have none. */
  add({ dims }: Pick<Tensor, "dims">, baseline: Float32Array, candidate: Float32Array): void {
    if (this.#isOver) return;
    const axis = slicedAxis(dims);
    const size = axis === null ? 0 : dims[axis]!;
    if (this.#axis === null && axis !== null) {
      this.#axis = axis;
      this.#baseline = new Float64Array(size);
      this.#difference = new Float64Array(size);
    }
    if (axis === null || axis !== this.#axis || size !== this.#baseline.length) {
      this.#isOver = true;
      return;
    }
    const stride = elementCount(dims.slice(axis + 1));
    for (let start = 0, slice = 0; start < baseline.length; start += stride) {
      let [power, noise] = [0, 0];
      for (let i = start; i < start + stride; i++) {
        const value = baseline[i]!;
        const distance = candidate[i]! - value;
        power += value * value;
        noise += distance * distance;
      }
      this.#baseline[slice]! += power;
      this.#difference[slice]! += noise;
      slice = slice + 1 === size ? 0 : slice + 1;
    }
  }

  result(): FaintSlices | null {
    if (this.#isOver || this.#axis === null) return null;
    const least = FAINT_POWER * Math.max(...this.#baseline);
    const slices = [...this.#baseline.keys()].filter((slice) => this.#baseline[slice]! < least);
    const sum = (of: Float64Array): number => slices.reduce((total, slice) => total + of[slice]!, 0);
    const [power, noise] = [sum(this.#baseline), sum(this.#difference)];
    // Infinities and NaN are told of elsewhere.
    if (!(power > 0) || !Number.isFinite(power) || !Number.isFinite(noise)) return null;
    const sqnrDb = noise === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(power / noise);
    return { axis: this.#axis, slices, sqnrDb };
  }
}

/** The shortest behind the batch, of three and more: what lies along it are kinds of values. */
function slicedAxis(dims: readonly number[]): number | null {
  if (dims.length < 3) return null;
  const axes = dims.flatMap((size, axis) => (axis > 0 && size >= 2 && size <= MOST_SLICES ? [axis] : []));
  return axes.length === 0 ? null : axes.reduce((a, b) => (dims[b]! < dims[a]! ? b : a));
}
