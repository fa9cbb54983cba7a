import { expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { intervalsOf, type SampleDifference } from "../../../src/runtime/ort/child/sample-differences.js";

const agreeing = (rows: number, agreeingRows: number): SampleDifference => ({
  ...{ elements: 10, squaredDifference: 0, squaredBaseline: 10, cosine: 1, rows, agreeingRows },
});

it("intervals hold the truth in most of many trials", () => {
  const trials = 150;
  const held = { rmse: 0, sqnrDb: 0, argmaxAgreement: 0 };
  for (let trial = 0; trial < trials; trial++) {
    const random = seededRandom(900 + trial);
    const samples = Array.from({ length: 60 }, (): SampleDifference => {
      // Some samples are harder than others: mean square 0.01 * exp(0.5 * normal - 0.125), which is 0.01 on average.
      const squaredDifference = 100 * 0.01 * Math.exp(0.5 * random.normal() - 0.125);
      const agreeingRows = random.next() < 0.9 ? 1 : 0;
      return { elements: 100, squaredDifference, squaredBaseline: 100, cosine: 0.99, rows: 1, agreeingRows };
    });
    const found = intervalsOf(samples)!;
    const truth = { rmse: 0.1, sqnrDb: 20, argmaxAgreement: 0.9 };
    for (const name of ["rmse", "sqnrDb", "argmaxAgreement"] as const) {
      const [low, high] = found[name]!;
      if (low <= truth[name] && truth[name] <= high) held[name]++;
    }
  }
  // 95 % of 150 are 142; 130 is what chance may make of it, and of 60 samples of a skewed spread.
  for (const count of Object.values(held)) expect(count).toBeGreaterThanOrEqual(130);
});

it("where every sample agrees, some of those that were not seen may not", () => {
  const found = intervalsOf(Array.from({ length: 100 }, () => agreeing(1, 1)))!;
  expect(found.argmaxAgreement![0]).toBeCloseTo(0.9638, 4);
  expect(found.argmaxAgreement![1]).toBe(1);
  expect(found.sqnrDb).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

it("samples of several rows are drawn whole, and those without rows tell nothing of agreement", () => {
  const [low, high] = intervalsOf([agreeing(4, 4), agreeing(4, 2), agreeing(4, 4), agreeing(4, 3)])!.argmaxAgreement!;
  expect(low).toBeGreaterThanOrEqual(0.5);
  expect(low).toBeLessThan(13 / 16);
  expect(high).toBeGreaterThan(13 / 16);
  expect(intervalsOf([agreeing(0, 0), agreeing(0, 0)])!.argmaxAgreement).toBeNull();
  expect(intervalsOf([agreeing(1, 1)])).toBeNull();
});
