/** What a line and its matrix (output-line.ts) make of weights: a factor of every channel, and shares of all others. */
import type { Directions } from "./fit-directions.js";

/** Rows that are added in one pass over a sum: it is read and written so many times less. Their order is that of one at a time. */
const ABREAST = 4;

/** @param values whose channels lie along the first (0) or the last axis */
export function mapChannels(
  values: Float32Array,
  channels: number,
  axis: number,
  factor: number,
  directions: Directions | null,
): Float32Array {
  const result = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) result[i] = values[i]! * factor;
  if (!directions) return result;
  const { count, to, from } = directions;
  const others = values.length / channels;
  const lines = new ChannelLines(channels, others, axis);
  const held = new Float64Array(ABREAST * others);
  const along = new Float64Array(count * others);
  for (let c = 0; c < channels; c += ABREAST) {
    const taken = Math.min(ABREAST, channels - c);
    for (let k = 0; k < taken; k++) lines.read(values, c + k, held, k * others);
    for (let i = 0; i < count; i++) {
      addRows(along, i * others, others, held, from.subarray(i * channels + c, i * channels + c + taken));
    }
  }
  // Summed in double precision channel by channel: all sums at once would weigh twice what the weights do.
  const sums = held.subarray(0, others);
  const shares = new Float64Array(count);
  for (let c = 0; c < channels; c++) {
    lines.read(result, c, sums, 0);
    for (let i = 0; i < count; i++) shares[i] = to[i * channels + c]!;
    for (let i = 0; i < count; i += ABREAST) {
      addRows(sums, 0, others, along.subarray(i * others), shares.subarray(i, i + ABREAST));
    }
    lines.write(sums, c, result);
  }
  return result;
}

/**
 * Adds `factor` W v v^T to `sums`, in place.
 * @param weights W, as `sums` whose channels lie along the first (0) or the last axis
 * @param direction v, of as many numbers as a channel has weights
 * @returns what it makes of v, by channel: `factor` W v
 */
export function addAlong(
  sums: Float32Array,
  weights: Float32Array,
  channels: number,
  axis: number,
  direction: Float64Array,
  factor: number,
): Float64Array {
  const lines = new ChannelLines(channels, direction.length, axis);
  const line = new Float64Array(direction.length);
  const made = new Float64Array(channels);
  for (let c = 0; c < channels; c++) {
    lines.read(weights, c, line, 0);
    let along = 0;
    for (let o = 0; o < line.length; o++) along += line[o]! * direction[o]!;
    made[c] = factor * along;
    lines.read(sums, c, line, 0);
    for (let o = 0; o < line.length; o++) line[o]! += made[c]! * direction[o]!;
    lines.write(line, c, sums);
  }
  return made;
}

/** What belongs to one channel of weights. */
class ChannelLines {
  readonly #ofChannel: number;
  readonly #ofOther: number;

  constructor(
    channels: number,
    readonly others: number,
    axis: number,
  ) {
    [this.#ofChannel, this.#ofOther] = axis === 0 ? [others, 1] : [1, channels];
  }

  read(values: Float32Array, channel: number, to: Float64Array, at: number): void {
    const { others } = this;
    const step = this.#ofOther;
    let from = channel * this.#ofChannel;
    for (let o = 0; o < others; o++, from += step) to[at + o] = values[from]!;
  }

  write(line: Float64Array, channel: number, to: Float32Array): void {
    const { others } = this;
    const step = this.#ofOther;
    let at = channel * this.#ofChannel;
    for (let o = 0; o < others; o++, at += step) to[at] = line[o]!;
  }
}

/** Adds rows of so many numbers, each times its factor, to the part of `sums` that begins `at`. */
function addRows(sums: Float64Array, at: number, width: number, rows: Float64Array, factors: Float64Array): void {
  if (factors.length === ABREAST) addFour(sums, at, width, rows, factors);
  else for (let k = 0; k < factors.length; k++) addOne(sums, at, width, rows, k * width, factors[k]!);
}

function addFour(sums: Float64Array, at: number, width: number, rows: Float64Array, factors: Float64Array): void {
  const [a, b, c, d] = factors as unknown as [number, number, number, number];
  const [second, third, fourth] = [width, 2 * width, 3 * width];
  for (let i = 0; i < width; i++) {
    sums[at + i] = sums[at + i]! + a * rows[i]! + b * rows[second + i]! + c * rows[third + i]! + d * rows[fourth + i]!;
  }
}

function addOne(sums: Float64Array, at: number, width: number, rows: Float64Array, from: number, factor: number): void {
  for (let i = 0; i < width; i++) sums[at + i]! += factor * rows[from + i]!;
}
