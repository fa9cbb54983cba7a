import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { mean, variance } from "../../src/base/statistics.js";
import { arrivals, rateOf } from "../../src/bench/index.js";

const gapsOf = (moments: Float64Array): Float64Array => moments.map((moment, i) => moment - (moments[i - 1] ?? 0));

describe("arrivals", () => {
  it("of a Poisson process have exponential gaps: mean and deviation are 1 / rate", () => {
    const moments = arrivals("poisson", 50, 400_000, seededRandom(3));
    const gaps = gapsOf(moments);
    expect(moments.length).toBeGreaterThan(19_500);
    expect(moments.length).toBeLessThan(20_500);
    expect(mean(gaps)).toBeCloseTo(20, 0);
    expect(Math.sqrt(variance(gaps)) / mean(gaps)).toBeCloseTo(1, 1);
    expect(rateOf(moments)).toBeCloseTo(50, 0);
  });

  it("at a constant rate come evenly, and end in time", () => {
    expect([...arrivals("constant", 4, 1001, seededRandom(1))]).toEqual([250, 500, 750, 1000]);
  });

  it("are the same for the same seed, and ascend", () => {
    const moments = arrivals("poisson", 10, 5000, seededRandom(1));
    expect(arrivals("poisson", 10, 5000, seededRandom(1))).toEqual(moments);
    expect(arrivals("poisson", 10, 5000, seededRandom(2))).not.toEqual(moments);
    expect(gapsOf(moments).every((gap) => gap > 0)).toBe(true);
  });

  it("have no rate when there are too few", () => {
    expect(rateOf(new Float64Array(1))).toBe(0);
    expect(rateOf(new Float64Array(3))).toBe(0);
  });
});
