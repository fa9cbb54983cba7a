/** Zeros in place of the smallest weights, the others as they are: what reconstruction is measured against. */
import type { Linear } from "../refit/moments.js";
import { chooseZeros } from "./choose-zeros.js";
import { inputBlocks } from "./input-blocks.js";
import type { Sparsity } from "./sparsity.js";

interface Sizes {
  readonly groups: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly places: number;
}

export function byMagnitude({ weights, bias }: Linear, sizes: Sizes, sparsity: Sparsity): Linear {
  const { groups, inputs, outputs, places } = sizes;
  const kept = weights.slice();
  const rows = groups * outputs;
  // A share is one of the whole layer.
  const blocks =
    sparsity.kind === "share"
      ? [Int32Array.from({ length: inputs }, (_, i) => i)]
      : inputBlocks(inputs, places, sparsity);
  for (const block of blocks) {
    const columns = block.length;
    const merit = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++)
      for (let c = 0; c < columns; c++) merit[row * columns + c] = Math.abs(weights[row * inputs + block[c]!]!);
    const isZero = chooseZeros(merit, rows, columns, sparsity);
    for (let i = 0; i < isZero.length; i++)
      if (isZero[i] !== 0) kept[Math.floor(i / columns) * inputs + block[i % columns]!] = 0;
  }
  return { weights: kept, bias };
}
