import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { decide, isAlike, processError, speedupOf } from "../../src/bench/speedup.js";

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

  it("is less sure of the least models, which a process shifts by a time rather than a share", () => {
    const widthAt = (ms: number): number => {
      const [baseline, candidate] = [processes([ms, ms, ms], 1), processes([ms, ms, ms], 2)];
      return width(speedupOf(baseline, candidate, options).speedupInterval);
    };
    expect(widthAt(10)).toBeCloseTo(widthAt(0.25), 10);
    expect(widthAt(0.05)).toBeGreaterThan(2 * widthAt(0.25));
  });

  it("does not take the levels of a few processes for the variance of many runs", () => {
    const [baseline, candidate] = [processes([9, 11, 10, 9.5, 10.5], 1), processes([10, 10, 10, 10, 10], 2)];
    const { speedupInterval } = speedupOf(baseline, candidate, { confidence: 0.95, seed: 1 });
    const levels = [9, 11, 10, 9.5, 10.5].map(Math.log);
    const center = levels.reduce((sum, log) => sum + log, 0) / 5;
    const deviation = Math.sqrt(levels.reduce((sum, log) => sum + (log - center) ** 2, 0) / 4);
    // Student's t with 4 degrees is 2.776.
    expect(width(speedupInterval)).toBeGreaterThan(0.8 * 2 * 2.776 * (deviation / Math.sqrt(5)));
  });

  it("stays of use where two processes lie far apart: no process is taken to be off by half", () => {
    const [baseline, candidate] = [processes([10, 13], 1), processes([10, 10], 2)];
    const { speedup, speedupInterval } = speedupOf(baseline, candidate, options);
    // 0.2 of two processes, at 99 %, and a little for the runs; Student's t of one degree is 64.
    expect(width(speedupInterval)).toBeLessThan(2 * 2.576 * (0.2 / Math.SQRT2) * 1.3);
    expect(width(speedupInterval)).toBeGreaterThan(Math.log(1.3));
    expect(speedupInterval[0]).toBeLessThan(1);
    expect(speedup).toBeGreaterThan(1);
  });

  it("is not certain of runs that never varied", () => {
    const [low, high] = speedupOf([[3, 3, 3]], [[2, 2, 2]], options).speedupInterval;
    expect(low).toBeLessThan(1.5);
    expect(high).toBeGreaterThan(1.5);
    expect(low * high).toBeCloseTo(2.25, 10);
  });
});

describe("speedupOf, of processes that differ by a tenth", () => {
  const trials = 200;
  /** How often the truth, 1, is held, with so many processes. */
  const held = (count: number): number => {
    const random = seededRandom(7);
    let holds = 0;
    for (let trial = 0; trial < trials; trial++) {
      const levels = () => Array.from({ length: count }, () => Math.exp((0.1 / Math.SQRT2) * random.normal()));
      const [low, high] = speedupOf(
        levels().map((level) => [level]),
        levels().map((level) => [level]),
        { confidence: 0.95, seed: trial },
      ).speedupInterval;
      if (low <= 1 && high >= 1) holds++;
    }
    return holds;
  };

  // What is assumed of processes makes few of them a little too sure.
  it.each([5, 12, 20])("holds the truth with %d of them about as often as it says", (count) => {
    expect(held(count)).toBeGreaterThanOrEqual(0.88 * trials);
  });
});

describe("processError", () => {
  it("is what is assumed before anything has run, and less with every process", () => {
    expect(processError([], [])).toBeCloseTo(0.02);
    expect(processError(...pair(4, 1))).toBeLessThan(0.011);
    expect(processError(...pair(16, 1))).toBeLessThan(0.006);
  });

  it("follows what processes show, where that is more", () => {
    const levels = Array.from({ length: 16 }, (_, i) => (i % 2 ? 0.9 : 1.1));
    expect(processError(processes(levels, 1), processes(Array(16).fill(1), 2))).toBeCloseTo(0.1 / 4, 2);
  });
});

/** So many processes of two models, the first one this many times as slow. */
const pair = (count: number, ratio: number) =>
  [processes(Array(count).fill(ratio), 3), processes(Array(count).fill(1), 4)] as const;

describe("isAlike", () => {
  it("tells races of other ratios apart, as far as processes allow it", () => {
    expect(isAlike(pair(8, 2), pair(4, 2))).toBe(true);
    expect(isAlike(pair(8, 2), pair(4, 1.6))).toBe(false);
    expect(isAlike(pair(1, 2), pair(1, 1.95))).toBe(true);
  });
});

describe("decide", () => {
  it("takes the side that the whole interval is on", () => {
    expect(decide([1.2, 1.5], 1.2)).toBe("met");
    expect(decide([1.1, 1.19], 1.2)).toBe("missed");
    expect(decide([1.1, 1.2], 1.2)).toBe("inconclusive");
  });
});
