import type { Tensor } from "../ir/index.js";

/** Of one activation [..., channels], over some samples. */
export interface ChannelStatistics {
  /** Per channel. */
  readonly min: Float32Array;
  readonly max: Float32Array;
  readonly meanSquare: Float64Array;
  /** Mean of (largest - smallest)^2 over samples: what one scale for all has to cover. */
  readonly rangeSquare: number;
  /** Mean of max |x|^2 over rows. */
  readonly rowSquare: number;
  /** Smallest and largest element of a row over its magnitude, over all rows. */
  readonly rowLow: number;
  readonly rowHigh: number;
}

/** Gathers them, a sample at a time, in memory that does not grow. */
export class ChannelObserver {
  readonly #min: Float32Array;
  readonly #max: Float32Array;
  readonly #squares: Float64Array;
  #rows = 0;
  #samples = 0;
  #rangeSquares = 0;
  #rowSquares = 0;
  #rowLow = 0;
  #rowHigh = 0;
  #isFinite = true;

  constructor(readonly channels: number) {
    this.#min = new Float32Array(channels).fill(Number.POSITIVE_INFINITY);
    this.#max = new Float32Array(channels).fill(Number.NEGATIVE_INFINITY);
    this.#squares = new Float64Array(channels);
  }

  see(tensor: Tensor): void {
    const { channels } = this;
    const values = tensor.toF32();
    if (!values || tensor.dims.at(-1) !== channels) {
      this.#isFinite = false;
      return;
    }
    let low = 0;
    let high = 0;
    for (let from = 0; from < values.length; from += channels) {
      let rowLow = 0;
      let rowHigh = 0;
      for (let k = 0; k < channels; k++) {
        const value = values[from + k]!;
        if (value < this.#min[k]!) this.#min[k] = value;
        if (value > this.#max[k]!) this.#max[k] = value;
        if (value < rowLow) rowLow = value;
        if (value > rowHigh) rowHigh = value;
        this.#squares[k]! += value * value;
      }
      const magnitude = Math.max(rowHigh, -rowLow);
      this.#rows++;
      this.#rowSquares += magnitude * magnitude;
      if (magnitude > 0) {
        this.#rowLow = Math.min(this.#rowLow, rowLow / magnitude);
        this.#rowHigh = Math.max(this.#rowHigh, rowHigh / magnitude);
      }
      low = Math.min(low, rowLow);
      high = Math.max(high, rowHigh);
    }
    this.#samples++;
    this.#rangeSquares += (high - low) ** 2;
  }

  /** Null when nothing was seen, or something that is no finite number. */
  statistics(): ChannelStatistics | null {
    const isUsable = this.#isFinite && this.#squares.every(Number.isFinite);
    if (this.#rows === 0 || !isUsable) return null;
    return {
      min: this.#min,
      max: this.#max,
      meanSquare: this.#squares.map((sum) => sum / this.#rows),
      rangeSquare: this.#rangeSquares / this.#samples,
      rowSquare: this.#rowSquares / this.#rows,
      rowLow: this.#rowLow,
      rowHigh: this.#rowHigh,
    };
  }
}
