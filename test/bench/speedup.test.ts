import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { decide, speedupOf } from "../../src/bench/speedup.js";

const options = { confidence: 0.99, seed: 1 };
const width = ([low, high]: readonly [number, number]) => Math.log(high / low);

/** One series for each process; its runs vary by 2 % around the level. */
function processes(levels: readonly number[], seed: number): number[][] {
  const random = seededRandom(seed);
  return levels.map((level) => Array.from({ length: 40 }, () => level * Math.exp(0.02 * random.normal())));
}

describe("speedupOf", () => {
  it("is the old latency over the new", () => {
    const { speedup, speedupInterval } = speedupOf(processes([12, 12, 12], 1), processes([8, 8, 8], 2), options);
    expect(speedup).toBeCloseTo(1.5, 1);
    expect(speedupInterval[0]).toBeGreaterThan(1.4);
    expect(speedupInterval[1]).toBeLessThan(1.6);
  });

  it("is less sure when processes disagree", () => {
    const baseline = processes([10, 10, 10, 10], 1);
    const alike = speedupOf(baseline, processes([10, 10, 10, 10], 2), options).speedupInterval;
    const unlike = speedupOf(baseline, processes([9, 11, 9, 11], 2), options).speedupInterval;
    expect(width(unlike)).toBeGreaterThan(2 * width(alike));
  });

  it("is surer with more processes that agree", () => {
    const few = speedupOf(processes([10], 1), processes([10], 2), options).speedupInterval;
    const many = speedupOf(processes(Array(12).fill(10), 1), processes(Array(12).fill(10), 2), options).speedupInterval;
    expect(width(many)).toBeLessThan(width(few) / 2);
  });

  it("is not certain of runs that never varied", () => {
    const [low, high] = speedupOf([[3, 3, 3]], [[2, 2, 2]], options).speedupInterval;
    expect(low).toBeLessThan(1.5);
    expect(high).toBeGreaterThan(1.5);
    expect(low * high).toBeCloseTo(2.25, 10);
  });
});

describe("decide", () => {
  it("takes the side that the whole interval is on", () => {
    expect(decide([1.2, 1.5], 1.2)).toBe("met");
    expect(decide([1.1, 1.19], 1.2)).toBe("missed");
    expect(decide([1.1, 1.2], 1.2)).toBe("inconclusive");
  });
});
