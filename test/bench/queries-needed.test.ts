import { describe, expect, it } from "vitest";
import { queriesNeeded } from "../../src/bench/index.js";

describe("queries that a percentile takes", () => {
  // What MLPerf's LoadGen has for these: 64 of p90 and 662 of p99 are its least for a single stream, which drops the largest.
  it.each([
    [0, 0.99, 459],
    [1, 0.99, 662],
    [1, 0.9, 64],
    [0, 0.9, 44],
    [0, 0.5, 7],
  ])("%i late of p = %f: %i", (late, share, needed) => {
    expect(queriesNeeded(late, share)).toBe(needed);
  });

  it("are more where more were late, and never let a share of late ones pass that is above the limit", () => {
    for (const late of [3, 30, 300]) {
      const needed = queriesNeeded(late, 0.95);
      expect(needed).toBeGreaterThan(queriesNeeded(late - 1, 0.95));
      expect(late / needed).toBeLessThan(0.05);
    }
    expect(300 / queriesNeeded(300, 0.95)).toBeGreaterThan(0.04);
  });
});
