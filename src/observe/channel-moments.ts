/**
 * Mean and mean square of each channel of one tensor: what a product's weights are multiplied by, how strongly it varies,
 * and how much of that neighbours have in common.
 */
import { elementCount } from "../ir/index.js";

/** What the moments of a tensor are called where they are kept. */
export const meanOf = (tensor: string): string => `${tensor}/mean`;
export const meanSquareOf = (tensor: string): string => `${tensor}/mean square`;
export const meanPairOf = (tensor: string): string => `${tensor}/mean pair`;

export interface ChannelMoments {
  readonly mean: Float32Array;
  readonly meanSquare: Float32Array;
  /** Mean product of a value and the next along the last axis; 0 where there is none. */
  readonly meanPair: Float32Array;
}

/** Float64, by channel. */
interface ChannelSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
  /** Of products of neighbours. */
  readonly pairs: Float64Array;
}

/** `dims[axis]` are the channels; the values are only read. */
export function channelMoments(values: Float32Array, dims: readonly number[], axis: number): ChannelMoments {
  const channels = dims[axis] ?? 0;
  const inner = elementCount(dims.slice(axis + 1));
  const added: ChannelSums = {
    sums: new Float64Array(channels),
    squares: new Float64Array(channels),
    pairs: new Float64Array(channels),
  };
  const width = inner === 1 ? 1 : dims.at(-1)!;
  const places = channels > 0 ? values.length / channels : 0;
  if (inner === 1) addRows(values, channels, added);
  else addPlanes(values, channels, inner, width, added);
  const pairsSeen = (places / width) * (width - 1);
  return {
    mean: Float32Array.from(added.sums, (sum) => sum / places),
    meanSquare: Float32Array.from(added.squares, (sum) => sum / places),
    meanPair: Float32Array.from(added.pairs, (sum) => (pairsSeen > 0 ? sum / pairsSeen : 0)),
  };
}

// The loops are functions of their own: what stands behind a loop, and was not run yet when the engine compiled it, makes it
// leave that code each time.

/** [rows, channels] */
function addRows(values: Float32Array, channels: number, { sums, squares }: ChannelSums): void {
  const count = values.length;
  for (let i = 0; i < count; ) {
    for (let channel = 0; channel < channels; channel++, i++) {
      const value = values[i]!;
      sums[channel]! += value;
      squares[channel]! += value * value;
    }
  }
}

/** [planes, inner], each plane of one channel and in rows of `width`. */
function addPlanes(
  values: Float32Array,
  channels: number,
  inner: number,
  width: number,
  { sums, squares, pairs }: ChannelSums,
): void {
  const count = values.length;
  for (let from = 0, run = 0; from < count; from += inner, run++) {
    let sum = 0;
    let square = 0;
    let pair = 0;
    for (let row = from; row < from + inner; row += width) {
      let before = 0;
      for (let i = row; i < row + width; i++) {
        const value = values[i]!;
        sum += value;
        square += value * value;
        pair += value * before;
        before = value;
      }
    }
    sums[run % channels]! += sum;
    squares[run % channels]! += square;
    pairs[run % channels]! += pair;
  }
}
