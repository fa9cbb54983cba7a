/**
 * The inputs of a layer in blocks in which zeros are chosen together.
 *
 * A pattern counts along the channels that a weight reads, at one place of the kernel: that is where kernels for
 * 2:4 look for it. Inputs lie channel by channel, all places of the kernel in each, so a block of 4 is
 * c, c + 1, c + 2, c + 3 at the same place. What is left over at the end is a block of its own.
 */
import type { Sparsity } from "./sparsity.js";

/** Columns whose zeros are chosen at once where only their share is given. */
const COLUMNS_AT_ONCE = 128;

/** Every input once. */
export function inputBlocks(inputs: number, places: number, sparsity: Sparsity): readonly Int32Array[] {
  const blocks: Int32Array[] = [];
  if (sparsity.kind === "share") {
    for (let from = 0; from < inputs; from += COLUMNS_AT_ONCE) {
      blocks.push(Int32Array.from({ length: Math.min(COLUMNS_AT_ONCE, inputs - from) }, (_, i) => from + i));
    }
    return blocks;
  }
  const channels = inputs / places;
  for (let from = 0; from < channels; from += sparsity.of) {
    const count = Math.min(sparsity.of, channels - from);
    for (let place = 0; place < places; place++) {
      blocks.push(Int32Array.from({ length: count }, (_, i) => (from + i) * places + place));
    }
  }
  return blocks;
}
