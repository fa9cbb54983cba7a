import { describe, expect, it } from "vitest";
import {
  leastCountFor,
  mean,
  median,
  nearestRank,
  normalQuantile,
  percentileOrNull,
  quantile,
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

  it.each([
    [[1, 2, Infinity], 0.5, 2],
    [[1, 2, Infinity], 0.75, Infinity],
    [[1, Infinity, Infinity], 0.75, Infinity],
    [[-Infinity, 2, 3], 0.25, -Infinity],
    [[-Infinity, -Infinity, 3], 0.25, -Infinity],
    [[-Infinity, Infinity], 0.5, -Infinity],
  ])("of %j at %d is a number: %d", (values, p, expected) => expect(quantile(values, p)).toBe(expected));

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

describe("nearestRank", () => {
  it.each([
    [0.5, 1, 1],
    [0.5, 4, 2],
    [0.5, 5, 3],
    [0.95, 20, 19],
    [0.95, 21, 20],
    [0.99, 100, 99],
    [0.999, 1000, 999],
    [0.999, 3000, 2997],
    [0.001, 10, 1],
  ])("of %f among %i values is the %i-th", (p, count, wanted) => {
    expect(nearestRank(upTo(count), p)).toBe(wanted);
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
    expect(percentileOrNull(upTo(least), p)).toBe(nearestRank(upTo(least), p));
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
