/** Which weights of a block of columns become zeros: those of the least merit, in all rows together or in each row. */
import type { Sparsity } from "./sparsity.js";

/**
 * @param merit of [rows, columns] weights
 * Returns 1 for what becomes a zero. Of equals the first ones go.
 */
export function chooseZeros(merit: Float64Array, rows: number, columns: number, sparsity: Sparsity): Uint8Array {
  const isZero = new Uint8Array(rows * columns);
  if (sparsity.kind === "share") {
    const count = Math.round(sparsity.share * rows * columns);
    markLeast(merit, 0, merit.length, count, isZero);
    return isZero;
  }
  const count = Math.max(0, columns - sparsity.kept);
  for (let row = 0; row < rows; row++) markLeast(merit, row * columns, columns, count, isZero);
  return isZero;
}

function markLeast(merit: Float64Array, from: number, length: number, count: number, isZero: Uint8Array): void {
  if (count === 0) return;
  const limit = merit.slice(from, from + length).sort()[count - 1]!;
  let left = count;
  for (let i = from; i < from + length; i++) {
    if (merit[i]! >= limit) continue;
    isZero[i] = 1;
    left--;
  }
  for (let i = from; i < from + length && left > 0; i++) {
    if (merit[i] !== limit) continue;
    isZero[i] = 1;
    left--;
  }
}
