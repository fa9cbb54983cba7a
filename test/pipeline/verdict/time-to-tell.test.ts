import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { percentileBounds } from "../../../src/bench/index.js";
import {
  timeRemark,
  timesToNarrow,
  timesToTell,
  timesToTellRatio,
} from "../../../src/pipeline/verdict/time-to-tell.js";

describe("how much longer it takes to tell", () => {
  it("goes by the half of the interval that holds the limit", () => {
    expect(timesToTell(10, [4, 13], 11)).toBe(9);
    expect(timesToTell(10, [4, 13], 8)).toBe(9);
    expect(timesToTellRatio(2, [1, 8], Math.SQRT2)).toBeCloseTo(4);
  });

  it("is twice as long at least, and nothing above a hundred times", () => {
    expect(timesToTell(10, [9, 11], 11)).toBe(2);
    expect(timesToTell(10, [9, 11], 10.125)).toBe(64);
    expect(timesToTell(10, [9, 11], 10.09)).toBeNull();
    expect(timesToTell(10, [9, 11], 10)).toBeNull();
    expect(timesToTellRatio(1, [0.9, 1.1], 1)).toBeNull();
  });

  it("is unknown without an end on that side", () => {
    expect(timesToTell(10, [9, null], 11)).toBeUndefined();
    expect(timesToTell(10, [9, null], 9.5)).toBeCloseTo(4);
  });

  it("narrows an interval to a ratio of its ends", () => {
    expect(timesToNarrow([0.5, 2], 2)).toBeCloseTo(4);
  });

  it("tells in words", () => {
    expect(timeRemark(2.1)).toBe("about 3 times as long would tell, or a quieter machine");
    expect(timeRemark(null)).toBe("not even 100 times as long would tell");
    expect(timeRemark(undefined)).toBe("time longer, or on a quieter machine");
  });

  it("mostly comes true", () => {
    const LIMIT = 96;
    let [asked, told] = [0, 0];
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed);
      const times = (count: number): number[] => Array.from({ length: count }, () => 100 * random.next());
      const first = times(600);
      const { low, high } = percentileBounds(first).p95;
      const got = first.toSorted((a, b) => a - b)[569]!;
      const longer = timesToTell(got, [low, high], LIMIT);
      if (!(low! <= LIMIT && high! > LIMIT) || longer == null || longer > 30) continue;
      asked++;
      const later = percentileBounds([...first, ...times(Math.ceil(1.2 * (longer - 1) * first.length))]).p95;
      if (later.high! <= LIMIT || later.low! > LIMIT) told++;
    }
    expect(asked).toBeGreaterThan(20);
    expect(told / asked).toBeGreaterThan(0.5);
  });
});
