import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { COLUMNS, Slopes } from "../../../src/quantization/blocks/slope-kernel.js";

const numbers = (count: number, seed: number): Float32Array => {
  const chance = seededRandom(seed);
  return Float32Array.from({ length: count }, () => chance.next() - 0.5);
};

describe("slopes", () => {
  it.each([1, 4, 13, 64])("of %i rows are H e, with the same bits with vector instructions and without", (size) => {
    const raw = numbers(size * size, 3);
    const matrix = raw.map((value, at) => value + raw[(at % size) * size + Math.floor(at / size)]!);
    const both = [true, false].map((useVectors) => new Slopes(matrix, size, useVectors));
    const errors = numbers(size * COLUMNS, 5);
    for (const slopes of both) {
      for (let row = 0; row < size; row++) {
        slopes.changes.set(errors.subarray(row * COLUMNS, (row + 1) * COLUMNS));
        slopes.follow(row);
      }
    }
    const [fast, plain] = both as [Slopes, Slopes];
    expect(fast.values).toEqual(plain.values);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < COLUMNS; column++) {
        let exact = 0;
        for (let i = 0; i < size; i++) exact += matrix[row * size + i]! * errors[i * COLUMNS + column]!;
        expect(fast.values[fast.at(row, column)]).toBeCloseTo(exact, 4);
      }
    }
  });
});
