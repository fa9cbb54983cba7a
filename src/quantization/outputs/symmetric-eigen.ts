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
        turnColumns(a, size, p, q, c, t * c);
        turnRows(a, size, p, q, c, t * c);
        turnColumns(vectors, size, p, q, c, t * c);
      }
    if (turns === 0) break;
  }
  return { values: Float64Array.from({ length: size }, (_, i) => a[i * size + i]!), vectors };
}

/** Turns columns p and q of a matrix into each other. Nothing is made on the way: it is where the time goes. */
function turnColumns(m: Float64Array, size: number, p: number, q: number, c: number, s: number): void {
  for (let i = p, j = q; i < m.length; i += size, j += size) {
    const first = m[i]!;
    const second = m[j]!;
    m[i] = c * first - s * second;
    m[j] = s * first + c * second;
  }
}

function turnRows(m: Float64Array, size: number, p: number, q: number, c: number, s: number): void {
  for (let i = p * size, j = q * size; i < (p + 1) * size; i++, j++) {
    const first = m[i]!;
    const second = m[j]!;
    m[i] = c * first - s * second;
    m[j] = s * first + c * second;
  }
}
