/**
 * A = L transpose(L) for symmetric positive definite A, and what follows from it:
 *
 *   L[i, j] = (A[i, j] - sum_k<j L[i, k] L[j, k]) / L[j, j]
 *
 * Rows lie one after the other and every sum runs along rows. Four rows are worked on at a time, and rows in
 * blocks that stay in the cache: a matrix of some thousand rows takes seconds.
 */

/** Rows of L that are used together. */
const BLOCK = 48;

/** The lower triangle L of a factored matrix, [size, size]; what lies above the diagonal is of no meaning. */
export interface Factor {
  readonly size: number;
  readonly lower: Float64Array;
}

/**
 * Factors a copy of the matrix; only its lower triangle is read. Null where it is not positive definite to working
 * precision: a pivot is not above `tolerance` times its diagonal element, or is no number.
 */
export const factor = (matrix: Float64Array, size: number, tolerance?: number): Factor | null =>
  factorInPlace(matrix.slice(), size, tolerance);

/** The same, and the matrix becomes the factor. */
export function factorInPlace(lower: Float64Array, size: number, tolerance = 1e-12): Factor | null {
  const diagonal = Float64Array.from({ length: size }, (_, i) => lower[i * (size + 1)]!);
  for (let from = 0; from < size; from += BLOCK) {
    const to = Math.min(size, from + BLOCK);
    for (let i = from; i < size; i++) subtractBefore(lower, size, i, from, Math.min(to, i + 1));
    for (let i = from; i < size; i++) {
      const row = i * size;
      const end = Math.min(to, i + 1);
      for (let j = from; j < end; j++) {
        const other = j * size;
        let value = lower[row + j]!;
        for (let k = from; k < j; k++) value -= lower[row + k]! * lower[other + k]!;
        if (j < i) {
          lower[row + j] = value / lower[other + j]!;
          continue;
        }
        if (!(value > tolerance * diagonal[i]!) || !Number.isFinite(value)) return null;
        lower[row + i] = Math.sqrt(value);
      }
    }
  }
  return { size, lower };
}

/** lower[i, from..to) -= lower[i, 0..from) transpose(lower[from..to, 0..from)). */
function subtractBefore(lower: Float64Array, size: number, i: number, from: number, to: number): void {
  const row = i * size;
  let j = from;
  for (; j + 3 < to; j += 4) {
    const [a, b, c, d] = [j * size, (j + 1) * size, (j + 2) * size, (j + 3) * size];
    let [sa, sb, sc, sd] = [0, 0, 0, 0];
    for (let k = 0; k < from; k++) {
      const value = lower[row + k]!;
      sa += value * lower[a + k]!;
      sb += value * lower[b + k]!;
      sc += value * lower[c + k]!;
      sd += value * lower[d + k]!;
    }
    lower[row + j]! -= sa;
    lower[row + j + 1]! -= sb;
    lower[row + j + 2]! -= sc;
    lower[row + j + 3]! -= sd;
  }
  for (; j < to; j++) {
    const other = j * size;
    let sum = 0;
    for (let k = 0; k < from; k++) sum += lower[row + k]! * lower[other + k]!;
    lower[row + j]! -= sum;
  }
}

/** Solves A x = b for several b at once, the rows of `right` [count, size]. Returns the x, rows likewise. */
export function solve({ size, lower }: Factor, right: Float64Array, count: number): Float64Array {
  const solved = right.slice();
  // Enough right sides at a time that L is not read from memory for each.
  for (let from = 0; from < count; from += BLOCK) {
    const to = Math.min(count, from + BLOCK);
    for (let i = 0; i < size; i++) {
      const row = i * size;
      const pivot = 1 / lower[row + i]!;
      let r = from;
      for (; r + 3 < to; r += 4) {
        const [a, b, c, d] = [r * size, (r + 1) * size, (r + 2) * size, (r + 3) * size];
        let [sa, sb, sc, sd] = [solved[a + i]!, solved[b + i]!, solved[c + i]!, solved[d + i]!];
        for (let k = 0; k < i; k++) {
          const value = lower[row + k]!;
          sa -= value * solved[a + k]!;
          sb -= value * solved[b + k]!;
          sc -= value * solved[c + k]!;
          sd -= value * solved[d + k]!;
        }
        solved[a + i] = sa * pivot;
        solved[b + i] = sb * pivot;
        solved[c + i] = sc * pivot;
        solved[d + i] = sd * pivot;
      }
      for (; r < to; r++) {
        const at = r * size;
        let sum = solved[at + i]!;
        for (let k = 0; k < i; k++) sum -= lower[row + k]! * solved[at + k]!;
        solved[at + i] = sum * pivot;
      }
    }
    for (let i = size - 1; i >= 0; i--) {
      const row = i * size;
      const pivot = 1 / lower[row + i]!;
      for (let r = from; r < to; r++) {
        const at = r * size;
        const value = solved[at + i]! * pivot;
        solved[at + i] = value;
        if (value === 0) continue;
        for (let k = 0; k < i; k++) solved[at + k]! -= value * lower[row + k]!;
      }
    }
  }
  return solved;
}

/** L^-1, row by row; 0 above the diagonal. */
export function lowerInverse({ size, lower }: Factor): Float64Array {
  const own = new Float64Array(size * size);
  for (let from = 0; from < size; from += BLOCK) {
    const to = Math.min(size, from + BLOCK);
    // Earlier rows are read once for all rows of a block.
    for (let k = 0; k < from; k += 4) {
      for (let i = from; i < to; i++) {
        const at = i * size + k;
        addFour(own, i * size, k + 4, k, size, own, -lower[at]!, -lower[at + 1]!, -lower[at + 2]!, -lower[at + 3]!);
      }
    }
    for (let i = from; i < to; i++) {
      const row = i * size;
      own[row + i] = 1;
      for (let k = from; k < i; k++) {
        const value = lower[row + k]!;
        const other = k * size;
        for (let j = 0; j <= k; j++) own[row + j]! -= value * own[other + j]!;
      }
      const pivot = 1 / lower[row + i]!;
      for (let j = 0; j <= i; j++) own[row + j]! *= pivot;
    }
  }
  return own;
}

/** The inverse of the factored matrix, its lower triangle: transpose(L^-1) L^-1. What lies above the diagonal is 0. */
export function inverse(factored: Factor): Float64Array {
  const { size } = factored;
  const own = lowerInverse(factored);
  const inverted = new Float64Array(size * size);
  for (let from = 0; from < size; from += BLOCK) {
    const to = Math.min(size, from + BLOCK);
    for (let i = 0; i < to; i++) {
      // Rows above have nothing in column i.
      let k = Math.max(from, i);
      for (; k + 3 < to; k += 4) {
        const at = k * size + i;
        const [a, b, c, d] = [own[at]!, own[at + size]!, own[at + 2 * size]!, own[at + 3 * size]!];
        addFour(inverted, i * size, i + 1, k, size, own, a, b, c, d);
      }
      for (; k < to; k++) {
        const value = own[k * size + i]!;
        for (let j = 0; j <= i; j++) inverted[i * size + j]! += value * own[k * size + j]!;
      }
    }
  }
  return inverted;
}

/** into[at..at + count) += a, b, c and d times rows `row` to `row + 3`, up to their element `count`. */
function addFour(
  into: Float64Array,
  at: number,
  count: number,
  row: number,
  size: number,
  rows: Float64Array,
  a: number,
  b: number,
  c: number,
  d: number,
): void {
  const [ra, rb, rc, rd] = [row * size, (row + 1) * size, (row + 2) * size, (row + 3) * size];
  for (let j = 0; j < count; j++)
    into[at + j]! += a * rows[ra + j]! + b * rows[rb + j]! + c * rows[rc + j]! + d * rows[rd + j]!;
}
