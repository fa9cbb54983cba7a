import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { byMagnitude } from "../../../src/pruning/sparsity/by-magnitude.js";
import { inputBlocks } from "../../../src/pruning/sparsity/input-blocks.js";
import { type DenseGroup, reconstruct } from "../../../src/pruning/sparsity/reconstruct.js";
import type { Sparsity } from "../../../src/pruning/sparsity/sparsity.js";

/** Inputs that go together in groups of `alike`, so that others can take over what one of them did. */
function group(seed: number, inputs: number, outputs: number, alike = 4): DenseGroup {
  const random = seededRandom(seed);
  const noise = (): number => random.next() - 0.5;
  const gram = new Float64Array(inputs * inputs);
  for (let row = 0; row < 4 * inputs; row++) {
    const causes = Array.from({ length: Math.ceil(inputs / alike) }, noise);
    const x = Array.from({ length: inputs }, (_, i) => causes[Math.floor(i / alike)]! + 0.3 * noise());
    for (let i = 0; i < inputs; i++) for (let j = 0; j < inputs; j++) gram[i * inputs + j]! += x[i]! * x[j]!;
  }
  return { inputs, outputs, gram, weights: Float64Array.from({ length: inputs * outputs }, noise) };
}

/** tr (W - W0) H transpose(W - W0). */
function errorOf({ inputs, outputs, gram, weights: wanted }: DenseGroup, weights: Float64Array): number {
  let error = 0;
  for (let o = 0; o < outputs; o++) {
    const off = Array.from({ length: inputs }, (_, i) => weights[o * inputs + i]! - wanted[o * inputs + i]!);
    for (let i = 0; i < inputs; i++)
      for (let j = 0; j < inputs; j++) error += off[i]! * gram[i * inputs + j]! * off[j]!;
  }
  return error;
}

const zerosOf = (weights: Float64Array): number => weights.filter((weight) => weight === 0).length;
const half: Sparsity = { kind: "share", share: 0.5 };
const twoOfFour: Sparsity = { kind: "pattern", kept: 2, of: 4 };
const linear = ({ weights }: DenseGroup) => ({ weights, bias: null });
const sizes = ({ inputs, outputs }: DenseGroup, places = 1) => ({ groups: 1, inputs, outputs, places });

describe("reconstruct", () => {
  it.each([1, 2, 3])("misses far less than the smallest weights left out do (seed %i)", (seed) => {
    const made = group(seed, 160, 12);
    for (const sparsity of [half, twoOfFour]) {
      const sparse = reconstruct(made, inputBlocks(160, 1, sparsity), sparsity)!;
      expect(zerosOf(sparse)).toBe(80 * 12);
      const plain = byMagnitude(linear(made), sizes(made), sparsity).weights;
      expect(zerosOf(plain)).toBe(80 * 12);
      expect(errorOf(made, sparse)).toBeLessThan(0.35 * errorOf(made, plain));
    }
  });

  it("leaves every other weight at its optimum: none is better a little further", () => {
    const made = group(7, 24, 3);
    const sparse = reconstruct(made, inputBlocks(24, 1, half), half)!;
    const error = errorOf(made, sparse);
    for (let i = 0; i < sparse.length; i++) {
      if (sparse[i] === 0) continue;
      for (const step of [-1e-3, 1e-3]) {
        const moved = sparse.with(i, sparse[i]! + step);
        expect(errorOf(made, moved)).toBeGreaterThan(error);
      }
    }
  });

  it("finds the best zero of a row, as trying all of them does", () => {
    const made = group(11, 6, 1, 2);
    const one: Sparsity = { kind: "share", share: 1 / 6 };
    const found = errorOf(made, reconstruct(made, inputBlocks(6, 1, one), one)!);
    const inverse = invert(made.gram, 6);
    const best = Math.min(
      ...Array.from({ length: 6 }, (_, zero) => {
        return made.weights[zero]! ** 2 / inverse[zero * 7]!;
      }),
    );
    // Columns answer only to those behind them when zeros are chosen: near the best, and never below it.
    expect(found).toBeGreaterThanOrEqual(best * (1 - 1e-9));
    expect(found).toBeLessThan(best * 2 + 1e-12);
  });

  it("takes 2 of every 4 neighbouring channels at each place of a kernel", () => {
    const places = 9;
    const made = group(5, 8 * places, 4, 9);
    const sparse = reconstruct(made, inputBlocks(72, places, twoOfFour), twoOfFour)!;
    for (let o = 0; o < 4; o++) {
      for (let place = 0; place < places; place++) {
        for (const from of [0, 4]) {
          const four = [0, 1, 2, 3].map((c) => sparse[o * 72 + (from + c) * places + place]!);
          expect(four.filter((weight) => weight === 0)).toHaveLength(2);
        }
      }
    }
  });

  it("is nothing where inputs say nothing", () => {
    const made = { ...group(1, 8, 2), gram: new Float64Array(64) };
    expect(reconstruct(made, inputBlocks(8, 1, half), half)).toBeNull();
  });
});

describe("inputBlocks", () => {
  it("has every input once, the rest of a pattern in a block of its own", () => {
    for (const [inputs, places, sparsity] of [
      [300, 1, half],
      [63, 9, twoOfFour],
      [54, 9, twoOfFour],
    ] as const) {
      const all = inputBlocks(inputs, places, sparsity).flatMap((block) => [...block]);
      expect([...all].sort((a, b) => a - b)).toEqual(Array.from({ length: inputs }, (_, i) => i));
    }
    expect(inputBlocks(6, 1, twoOfFour).map(({ length }) => length)).toEqual([4, 2]);
  });
});

/** By elimination. */
function invert(matrix: Float64Array, size: number): Float64Array {
  const a = matrix.slice();
  const b = Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
  for (let p = 0; p < size; p++) {
    const pivot = a[p * size + p]!;
    for (let j = 0; j < size; j++) {
      a[p * size + j]! /= pivot;
      b[p * size + j]! /= pivot;
    }
    for (let i = 0; i < size; i++) {
      const by = a[i * size + p]!;
      if (i === p) continue;
      for (let j = 0; j < size; j++) {
        a[i * size + j]! -= by * a[p * size + j]!;
        b[i * size + j]! -= by * b[p * size + j]!;
      }
    }
  }
  return b;
}
