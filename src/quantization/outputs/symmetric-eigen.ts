/** Eigenvalues and vectors of a small symmetric matrix, by Jacobi's rotations: each makes one pair of entries zero. */

export interface Eigen {
  readonly values: Float64Array;
  /** [size, size]: one in each column. */
  readonly vectors: Float64Array;
}

const MOST_SWEEPS = 50;
/** Of the largest entry: what is below is zero. */
const NEGLIGIBLE = 1e-14;

export function symmetricEigen(matrix: Float64Array, size: number): Eigen {
  const a = Float64Array.from(matrix);
  const vectors = Float64Array.from(a, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
  const largest = a.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let turns = 0;
    for (let p = 0; p < size; p++)
      for (let q = p + 1; q < size; q++) {
        const off = a[p * size + q]!;
        if (Math.abs(off) <= NEGLIGIBLE * largest) continue;
        turns++;
        const theta = (a[q * size + q]! - a[p * size + p]!) / (2 * off);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        turn(a, p, q, size, size, c, t * c);
        turn(a, p * size, q * size, 1, size, c, t * c);
        turn(vectors, p, q, size, size, c, t * c);
      }
    if (turns === 0) break;
  }
  return { values: Float64Array.from({ length: size }, (_, i) => a[i * size + i]!), vectors };
}

/**
 * Turns two columns, or two rows, of a matrix into each other: `count` entries, `step` apart. Nothing is made on the way: it is
 * where the time goes.
 */
function turn(m: Float64Array, from: number, other: number, step: number, count: number, c: number, s: number): void {
  for (let k = 0, i = from, j = other; k < count; k++, i += step, j += step) {
    const first = m[i]!;
    const second = m[j]!;
    m[i] = c * first - s * second;
    m[j] = s * first + c * second;
  }
}
