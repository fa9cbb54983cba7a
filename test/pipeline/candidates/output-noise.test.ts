import { describe, expect, it } from "vitest";
import {
  bestMeasure,
  byAnswers,
  gainDb,
  noiseOf,
  pooledSqnrDb,
} from "../../../src/pipeline/candidates/output-noise.js";

describe("pooledSqnrDb", () => {
  it("is the energy of all answers over that of all noise", () => {
    // Noise of 1 in 100 and of 10 in 1: 101 over 11.
    expect(pooledSqnrDb([20, -10], [100, 1])).toBeCloseTo(10 * Math.log10(101 / 11), 12);
    expect(pooledSqnrDb([20, 20, 20], [5, 0, 7])).toBeCloseTo(20, 12);
  });

  it("takes samples for equal where all answers are 0, or too large for their squares to be numbers", () => {
    for (const energies of [
      [0, 0],
      [1, Number.POSITIVE_INFINITY],
    ])
      expect(pooledSqnrDb([0, 10], energies)).toBeCloseTo(10 * Math.log10(2 / 1.1), 12);
  });
});

describe("bestMeasure", () => {
  const told = { sqnrDb: 3, pooledDb: 2, inner: { sqnrDb: 20, pooledDb: 19 } };
  const refused = { sqnrDb: Number.NEGATIVE_INFINITY };
  const unmeasured = { sqnrDb: null };

  it("is of what the last products read where all that could be measured have it", () => {
    const measure = bestMeasure([told, refused, unmeasured]);
    expect(measure.isInner).toBe(true);
    expect(measure.of(told)).toBe(told.inner);
    expect(measure.of(refused)).toEqual(refused);
    expect(measure.of(unmeasured)).toEqual(unmeasured);
    expect(measure.of({ sqnrDb: 9 })).toEqual(refused);
  });

  it("is of the answers where next to no noise comes to the last products", () => {
    const clean = { ...told, inner: { sqnrDb: 55, pooledDb: 54 } };
    expect(bestMeasure([clean])).toBe(byAnswers);
    expect(bestMeasure([clean, told]).of(clean)).toBe(clean.inner);
  });

  it("is of the answers of all where one has nothing else", () => {
    const measure = bestMeasure([told, { sqnrDb: 5, pooledDb: 4 }]);
    expect(measure).toBe(byAnswers);
    expect(measure.of(told)).toBe(told);
  });
});

describe("noiseOf", () => {
  it("lies between the mean of the samples and all of them together", () => {
    expect(noiseOf({ sqnrDb: 20, pooledDb: 10 })).toBeCloseTo(10 ** -1.5, 12);
    expect(noiseOf({ sqnrDb: 20 })).toBeCloseTo(0.01, 12);
    expect(noiseOf({ sqnrDb: null })).toBe(0);
    expect(noiseOf({ sqnrDb: Number.NEGATIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY);
    expect(gainDb(noiseOf({ sqnrDb: 20 }), noiseOf({ sqnrDb: 23 }))).toBeCloseTo(3, 12);
  });
});
