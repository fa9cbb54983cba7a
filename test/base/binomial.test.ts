import { describe, expect, it } from "vitest";
import { binomialAtMost, exactShareInterval } from "../../src/base/binomial.js";

describe("few of many", () => {
  it.each([
    [0, 10, 0.5, 1 / 1024],
    [1, 10, 0.5, 11 / 1024],
    [9, 10, 0.5, 1023 / 1024],
    [10, 10, 0.3, 1],
    [2, 4, 0.25, 0.94921875],
    [0, 459, 0.01, 0.99 ** 459],
  ])("at most %i of %i at %f", (most, n, p, chance) => {
    expect(binomialAtMost(most, n, p)).toBeCloseTo(chance, 12);
  });

  it("keeps its digits where the first terms are too small to be numbers", () => {
    // Symmetric: half of the mass lies below the middle, but for half of the middle itself.
    const middle = Math.sqrt(2 / (Math.PI * 10_000));
    expect(binomialAtMost(5000, 10_000, 0.5)).toBeCloseTo(0.5 + middle / 2, 5);
  });
});

describe("the share that a count stands for", () => {
  // Clopper and Pearson's own tables; R: binom.test.
  it.each([
    [0, 10, 0.95, 0, 0.3085],
    [10, 10, 0.95, 0.6915, 1],
    [7, 10, 0.95, 0.3475, 0.9333],
    [95, 100, 0.95, 0.8872, 0.9836],
    [1, 20, 0.9, 0.0026, 0.2161],
  ])("%i of %i at %f lies between %f and %f", (hits, n, confidence, low, high) => {
    const found = exactShareInterval(hits, n, confidence);
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
  });
});
