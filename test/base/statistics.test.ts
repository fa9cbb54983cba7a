import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import {
  ascending,
  leastCountFor,
  mean,
  median,
  normalQuantile,
  percentileOrNull,
  quantile,
  quantileInterval,
  quantileUpperBound,
  studentQuantile,
  variance,
} from "../../src/base/statistics.js";

const upTo = (n: number) => Float64Array.from({ length: n }, (_, i) => i + 1);

describe("quantile", () => {
  it("is linear between order statistics", () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 0.9)).toBeCloseTo(3.7, 12);
    expect(quantile([7], 0.99)).toBe(7);
    expect(median([3, 1, 2])).toBe(2);
  });

  it("refuses nothing", () => {
    expect(() => quantile([], 0.5)).toThrow(/internal: a quantile of nothing/);
  });
});

describe("mean and variance", () => {
  it("are the sample's", () => {
    expect(mean([1, 2, 3, 6])).toBe(3);
    expect(variance([1, 2, 3, 6])).toBeCloseTo(14 / 3, 12);
    expect(variance([5])).toBe(0);
  });
});

describe("percentileOrNull", () => {
  it.each([
    [0.9, 29],
    [0.95, 59],
    [0.99, 299],
    [0.999, 2995],
  ])("speaks of the %f quantile from %i values on", (p, least) => {
    expect(leastCountFor(p)).toBe(least);
    expect(percentileOrNull(upTo(least - 1), p)).toBeNull();
    expect(percentileOrNull(upTo(least), p)).toBe(quantile(upTo(least), p));
  });
});

describe("quantileInterval", () => {
  it("gives the order statistics of the table for the median", () => {
    // Binomial(10, 1/2): P(X <= 1) = 0.0107, so the 2nd and 9th hold it with 97.9 %.
    expect(quantileInterval(upTo(10), 0.5)).toEqual({ low: 2, high: 9 });
  });

  it("gives no bound that the values cannot support", () => {
    expect(quantileInterval(upTo(58), 0.95).high).toBeNull();
    expect(quantileUpperBound(upTo(58), 0.95)).toBeNull();
    expect(quantileUpperBound(upTo(59), 0.95)).toBe(59);
    expect(quantileInterval(upTo(4), 0.5).low).toBeNull();
  });

  it("covers the true quantile as often as it says", () => {
    const random = seededRandom(1);
    let covered = 0;
    let bounded = 0;
    for (let trial = 0; trial < 400; trial++) {
      const values = ascending(Array.from({ length: 200 }, () => Math.exp(random.normal())));
      const truth = Math.exp(1.2815515655446004);
      const { low, high } = quantileInterval(values, 0.9);
      if (low! <= truth && truth <= high!) covered++;
      if (truth <= quantileUpperBound(values, 0.9)!) bounded++;
    }
    expect(covered / 400).toBeGreaterThan(0.93);
    expect(covered / 400).toBeLessThan(0.995);
    expect(bounded / 400).toBeGreaterThan(0.93);
    expect(bounded / 400).toBeLessThan(0.99);
  });

  it("is quick and exact for many values", () => {
    const { low, high } = quantileInterval(upTo(100_000), 0.5);
    // 50,000 -+ 1.96 * sqrt(100,000) / 2
    expect(low).toBeGreaterThan(49_685);
    expect(low).toBeLessThan(49_695);
    expect(high).toBeGreaterThan(50_305);
    expect(high).toBeLessThan(50_315);
  });
});

describe("normalQuantile", () => {
  it("agrees with the table", () => {
    expect(normalQuantile(0.5)).toBeCloseTo(0, 12);
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 10);
    expect(normalQuantile(0.005)).toBeCloseTo(-2.5758293035489, 10);
  });
});

describe("studentQuantile", () => {
  it.each([
    [0.975, 1, 12.7062],
    [0.995, 2, 9.92484],
    [0.995, 5, 4.03214],
    [0.95, 30, 1.69726],
    [0.025, 10, -2.22814],
  ])("of %f with %i degrees of freedom agrees with the table", (p, degrees, value) => {
    expect(studentQuantile(p, degrees) / value).toBeCloseTo(1, 5);
  });
});
