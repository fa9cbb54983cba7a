import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { factor, inverse, solve } from "../../../src/pruning/refit/cholesky.js";

function symmetric(size: number, rows: number): Float64Array {
  const random = seededRandom(size);
  const x = Float64Array.from({ length: rows * size }, () => random.next() - 0.5);
  const matrix = new Float64Array(size * size);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < size; i++)
      for (let j = 0; j < size; j++) matrix[i * size + j]! += x[r * size + i]! * x[r * size + j]!;
  }
  return matrix;
}

function times(matrix: Float64Array, x: Float64Array, size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) =>
    x.reduce((sum, value, j) => sum + matrix[i * size + j]! * value, 0),
  );
}

describe("cholesky", () => {
  // 48 rows are one block: sizes around one, and several.
  it.each([1, 3, 47, 48, 49, 131])("solves %i equations for several right sides", (size) => {
    const matrix = symmetric(size, 2 * size + 3);
    const xs = Array.from({ length: 53 }, (_, r) => Float64Array.from({ length: size }, (_, i) => Math.sin(r + i * i)));
    const right = Float64Array.from(xs.flatMap((x) => [...times(matrix, x, size)]));
    const solved = solve(factor(matrix, size)!, right, xs.length);
    const wanted = xs.flatMap((x) => [...x]);
    expect(Math.max(...wanted.map((x, i) => Math.abs(x - solved[i]!)))).toBeLessThan(1e-7);
  });

  it.each([1, 3, 47, 60, 150])("inverts, into the lower triangle: %d rows", (size) => {
    const matrix = symmetric(size, 3 * size);
    const lower = inverse(factor(matrix, size)!);
    const at = (i: number, j: number): number => lower[Math.max(i, j) * size + Math.min(i, j)]!;
    for (const j of new Set([0, Math.floor(size / 2), size - 1])) {
      const product = times(
        matrix,
        Float64Array.from({ length: size }, (_, i) => at(i, j)),
        size,
      );
      expect(product[j]).toBeCloseTo(1, 8);
      expect(Math.max(0, ...[...product].map((value, i) => (i === j ? 0 : Math.abs(value))))).toBeLessThan(1e-8);
    }
    expect(lower.every((value, k) => k % size <= Math.floor(k / size) || value === 0)).toBe(true);
  });

  it("leaves the matrix as it is", () => {
    const matrix = symmetric(5, 9);
    const before = matrix.slice();
    factor(matrix, 5);
    expect(matrix).toEqual(before);
  });

  it.each([
    ["fewer rows than columns", symmetric(20, 10)],
    ["a negative direction", Float64Array.from([1, 2, 2, 1])],
    ["zeros", new Float64Array(9)],
    ["NaN", Float64Array.from([1, 0, 0, Number.NaN])],
    ["infinity", Float64Array.from([Number.POSITIVE_INFINITY, 0, 0, 1])],
  ])("says so where there is no factor: %s", (_, matrix) => {
    expect(factor(matrix, Math.sqrt(matrix.length))).toBeNull();
  });
});
