import { describe, expect, it } from "vitest";
import { judgeNoise } from "../../src/bench/noise.js";

const speedup = (value: number, low = value, high = value) => ({
  speedup: value,
  speedupInterval: [low, high] as const,
});

describe("judgeNoise", () => {
  it("takes an interval with 1 in it, narrower than half of what lies between a candidate and the limit", () => {
    expect(judgeNoise(speedup(1, 0.99, 1.02), [speedup(1.2), speedup(0.9)], 1).noisy).toBeNull();
  });

  it("tells of a copy that differs", () => {
    expect(judgeNoise(speedup(1.03, 1.01, 1.05), [speedup(2)], 1).noisy).toBe(
      "the baseline differs from a second copy of itself",
    );
  });

  it("tells of an interval that is wide for the nearest candidate, though the copy need not differ at all", () => {
    const { noisy, ratio } = judgeNoise(speedup(1, 0.97, 1.03), [speedup(2), speedup(1.1)], 1);
    expect(ratio).toBe(1);
    expect(noisy).toBe(
      "the interval of the baseline against a second copy of itself is wider than half the margin that is judged",
    );
  });
});
