import { describe, expect, it } from "vitest";
import { areWorse, leftOutGainDb } from "../../../src/quantization/outputs/left-out.js";

const errors = (before: readonly number[], after: readonly number[]) => ({
  before: Float64Array.from(before),
  after: Float64Array.from(after),
});

describe("leftOutGainDb", () => {
  it("lies between the mean of the samples' decibels and those of all together", () => {
    // 10 and 0 dB; together 110 to 101.
    expect(leftOutGainDb(errors([10, 100], [1, 100]))).toBeCloseTo((5 + 10 * Math.log10(110 / 101)) / 2, 10);
    expect(leftOutGainDb(errors([1, 1], [10, 10]))).toBeCloseTo(-10, 10);
  });

  it("is 0 where there is nothing to compare", () => {
    expect(leftOutGainDb(errors([], []))).toBe(0);
    expect(leftOutGainDb(errors([0, 0], [0, 0]))).toBe(0);
  });
});

describe("areWorse", () => {
  it("takes more than the mean is uncertain by", () => {
    expect(areWorse(errors([1, 1, 1, 1], [2, 2.1, 1.9, 2]))).toBe(true);
    expect(areWorse(errors([1, 1, 1, 1], [0.5, 0.6, 0.4, 0.5]))).toBe(false);
    // Worse in the mean, by what one sample did.
    expect(areWorse(errors([1, 1, 1, 1], [0.5, 0.5, 0.5, 4]))).toBe(false);
  });

  it("is told by no single sample", () => {
    expect(areWorse(errors([1], [100]))).toBe(false);
  });
});
