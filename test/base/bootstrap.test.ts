import { describe, expect, it } from "vitest";
import { blockLengthFor, medianRatio, pairedDifferenceInterval } from "../../src/base/bootstrap.js";
import { seededRandom } from "../../src/base/random.js";

const trials = 400;

describe("pairedDifferenceInterval", () => {
  it("covers the true mean of skewed differences", () => {
    const random = seededRandom(2);
    let covered = 0;
    for (let trial = 0; trial < trials; trial++) {
      const before = Array.from({ length: 60 }, () => 10 * random.normal());
      // The exponential has mean 1.
      const after = before.map((value) => value - Math.log(1 - random.next()));
      const { low, high } = pairedDifferenceInterval(before, after, { seed: trial, resamples: 500 });
      if (low <= 1 && 1 <= high) covered++;
    }
    expect(covered / trials).toBeGreaterThanOrEqual(0.9);
    expect(covered / trials).toBeLessThan(0.99);
  });

  it("covers the true drop of a rate when few answers change", () => {
    const random = seededRandom(3);
    let covered = 0;
    for (let trial = 0; trial < trials; trial++) {
      const before = Array.from({ length: 200 }, () => (random.next() < 0.9 ? 1 : 0));
      // Right answers turn wrong with 2 %, wrong ones right with 10 %.
      const after = before.map((right) => (random.next() < (right ? 0.02 : 0.1) ? 1 - right : right));
      const { low, high } = pairedDifferenceInterval(before, after, { seed: 1 });
      const truth = 0.1 * 0.1 - 0.9 * 0.02;
      if (low <= truth && truth <= high) covered++;
    }
    expect(covered / trials).toBeGreaterThanOrEqual(0.93);
  });

  it("is not certain of a rate that did not change in a few samples", () => {
    const same = Array.from({ length: 100 }, (_, i) => (i % 10 === 0 ? 0 : 1));
    const { low, high } = pairedDifferenceInterval(same, same, { seed: 1 });
    expect(high).toBeCloseTo(1.96 / 102, 4);
    expect(low).toBe(-high);
  });

  it("is a point when other scores all moved alike", () => {
    expect(pairedDifferenceInterval([1, 2, 4], [1.5, 2.5, 4.5], { seed: 1 })).toEqual({ low: 0.5, high: 0.5 });
  });

  it("gives the same interval for the same seed, and a wider one for more confidence", () => {
    const before = [1, 2, 3, 4, 5, 6];
    const after = [1.1, 2.3, 2.9, 4.4, 5.2, 6.6];
    const once = pairedDifferenceInterval(before, after, { seed: 9 });
    expect(pairedDifferenceInterval(before, after, { seed: 9 })).toEqual(once);
    const sure = pairedDifferenceInterval(before, after, { seed: 9, confidence: 0.99 });
    expect(sure.high - sure.low).toBeGreaterThan(once.high - once.low);
  });
});

/** Latencies whose level wanders (autocorrelation `memory`) for both models at once, each with noise and bursts of its own. */
function pairs(seed: number, n: number, ratio: number, memory: number) {
  const random = seededRandom(seed);
  let wander = 0;
  const own = () => 0.03 * random.normal() + (random.next() < 0.03 ? 1 : 0);
  let ownWander = 0;
  const slow: number[] = [];
  const fast: number[] = [];
  for (let i = 0; i < n; i++) {
    wander = memory * wander + 0.05 * random.normal();
    ownWander = memory * ownWander + 0.02 * random.normal();
    slow.push(10 * ratio * Math.exp(wander + ownWander + own()));
    fast.push(10 * Math.exp(wander + own()));
  }
  return { slow, fast };
}

describe("medianRatio", () => {
  it("is the ratio of medians", () => {
    const { ratio } = medianRatio([4, 2, 6, 100], [1, 2, 3, 4], { seed: 1 });
    expect(ratio).toBe(2);
  });

  it.each([0, 0.8])("covers the true ratio when neighbours correlate by %f", (memory) => {
    let covered = 0;
    for (let trial = 0; trial < trials; trial++) {
      const { slow, fast } = pairs(trial + 1, 240, 1.3, memory);
      const { low, high } = medianRatio(slow, fast, { seed: trial, resamples: 300 });
      if (low <= 1.3 && 1.3 <= high) covered++;
    }
    expect(covered / trials).toBeGreaterThanOrEqual(0.9);
  });

  it("is a point for series that never vary", () => {
    expect(medianRatio([3, 3, 3], [2, 2, 2], { seed: 1 })).toMatchObject({ ratio: 1.5, low: 1.5, high: 1.5 });
  });

  it("gives the same answer for the same seed", () => {
    const { slow, fast } = pairs(5, 50, 1.1, 0.5);
    expect(medianRatio(slow, fast, { seed: 3 })).toEqual(medianRatio(slow, fast, { seed: 3 }));
    expect(medianRatio(slow, fast, { seed: 4 })).not.toEqual(medianRatio(slow, fast, { seed: 3 }));
  });
});

describe("blockLengthFor", () => {
  it("is 4 for independent runs and longer for wandering ones", () => {
    const calm = pairs(1, 400, 1, 0);
    expect(blockLengthFor(calm.slow, calm.fast)).toBe(4);
    const wandering = pairs(1, 400, 1, 0.95);
    expect(blockLengthFor(wandering.slow, wandering.fast)).toBeGreaterThan(10);
  });
});
