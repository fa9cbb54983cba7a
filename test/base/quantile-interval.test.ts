import { describe, expect, it } from "vitest";
import { chanceOf, percentileCoverage } from "../../bench/trust/coverage-trials.mjs";
import { latencySources } from "../../bench/trust/latency-sources.mjs";
import { quantileIntervals, quantileSide } from "../../src/base/quantile-interval.js";
import { seededRandom } from "../../src/base/random.js";

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
function shuffled(n: number): number[] {
  const values = upTo(n);
  const random = seededRandom(3);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [values[i], values[j]] = [values[j]!, values[i]!];
  }
  return values;
}
const of = (values: readonly number[], p: number, confidence?: number) =>
  quantileIntervals(values, [p], confidence)[0]!;

describe("quantileIntervals", () => {
  it("lies between the order statistics of the table for the median", () => {
    // Binomial(10, 1/2): P(X <= 1) = 0.0107 and P(X <= 2) = 0.0547, so 2.5 % lie between the 2nd and the 3rd.
    const { low, high } = of([5, 1, 8, 3, 10, 6, 2, 9, 4, 7], 0.5);
    expect(low).toBeCloseTo(2 + (0.025 - 0.0107) / 0.0439, 2);
    expect(high).toBeCloseTo(11 - low!, 10);
  });

  it("has no end that the values do not reach", () => {
    expect(of(shuffled(58), 0.95, 0.9).high).toBeNull();
    expect(of(shuffled(59), 0.95, 0.9).high).toBeGreaterThan(58);
    expect(of(shuffled(298), 0.99, 0.9).high).toBeNull();
    expect(of(shuffled(299), 0.99, 0.9).high).not.toBeNull();
    expect(of([1, 3, 2, 4], 0.5).low).toBeNull();
    expect(of([7], 0.5)).toEqual({ low: null, high: null });
  });

  it("is that of the binomial for many independent values", () => {
    const { low, high } = of(shuffled(100_000), 0.5);
    // 50,000 -+ 1.96 * sqrt(100,000) / 2
    expect(low).toBeGreaterThan(49_680);
    expect(low).toBeLessThan(49_700);
    expect(high).toBeGreaterThan(50_300);
    expect(high).toBeLessThan(50_320);
  });

  it("is a point where nothing varies", () => {
    expect(of(Array(400).fill(2), 0.5)).toEqual({ low: 2, high: 2 });
  });

  it("is wider the longer values depend on those before", () => {
    const width = (values: readonly number[]): number => {
      const { low, high } = of(values, 0.5);
      return high! - low!;
    };
    const alone = shuffled(1000);
    const inThrees = alone.flatMap((value) => [value, value, value]).slice(0, 1000);
    expect(width(inThrees)).toBeGreaterThan(1.5 * width(alone));
  });

  it("takes no account of the unit", () => {
    const values = shuffled(500).map((i) => Math.exp(i / 100));
    const scaled = of(
      values.map((value) => 1000 * value),
      0.9,
    );
    expect(scaled.low! / of(values, 0.9).low!).toBeCloseTo(1000, 6);
  });
});

/** The whole of it, with 1,000 trials of 3,200 runs: bench/trust/coverage.mjs. */
describe("95 % intervals hold the truth in 95 % of trials", () => {
  const trials = 200;
  it.each(["lognormal", "bimodal", "heavy tail (Pareto, 3)", "lognormal, leaning 0.8", "slow phases of 5 runs"])(
    "%s",
    (name) => {
      const percentiles = [0.5, 0.9, 0.95, 0.99];
      const held = percentileCoverage(quantileIntervals, latencySources[name]!, { trials, runs: 700, percentiles });
      for (const share of held) {
        expect(share).toBeGreaterThan(0.93 - chanceOf(trials));
        expect(share).toBeLessThan(0.97 + chanceOf(trials));
      }
    },
  );
});

describe("whether a quantile is above a limit", () => {
  const series = (seed: number, lean: number): Float64Array => {
    const random = seededRandom(seed);
    let at = random.normal();
    return Float64Array.from({ length: 600 }, () => (at = lean * at + Math.sqrt(1 - lean ** 2) * random.normal()));
  };

  it.each([0, 0.8])(
    "is rarely said where it is at the limit, and mostly where it is far above (leaning %f)",
    (lean) => {
      const said = (limit: number): number =>
        Array.from({ length: 100 }, (_, seed) => quantileSide(series(seed, lean), 0.95, limit)()).filter(
          (side) => side === "above",
        ).length;
      // Of a normal, p95 is 1.645.
      expect(said(1.645)).toBeLessThanOrEqual(12);
      expect(said(0.5)).toBeGreaterThanOrEqual(95);
    },
  );

  it.each([0, 0.8])("and below it as well (leaning %f)", (lean) => {
    const said = (limit: number): number =>
      Array.from({ length: 100 }, (_, seed) => quantileSide(series(seed, lean), 0.95, limit)()).filter(
        (side) => side === "below",
      ).length;
    expect(said(1.645)).toBeLessThanOrEqual(12);
    // 600 that lean so much say no more than 66 that do not, and 59 are the least for p95.
    expect(said(3)).toBeGreaterThanOrEqual(lean === 0 ? 95 : 50);
  });

  it("is never said of values that are all below", () => {
    expect(quantileSide([1, 1, 1], 0.5, 1)()).toBeNull();
    expect(quantileSide(new Float64Array(50).fill(2), 0.95, 1)()).toBe("above");
  });

  it("tells of more values of the same kind what so many would", () => {
    const evenly = (n: number): number[] => shuffled(n).map((rank) => rank / n);
    // 4 % are above, where 5 % may be.
    const side = quantileSide(evenly(500), 0.95, 0.96);
    expect(side()).toBeNull();
    expect(side(20)).toBe("below");
    expect(quantileSide(evenly(10_000), 0.95, 0.96)()).toBe("below");
    expect(quantileSide(evenly(500), 0.95, 0.94)(20)).toBe("above");
    // 59 are the least of which none is above.
    expect(quantileSide(evenly(29), 0.95, 2)(58 / 29)).toBeNull();
    expect(quantileSide(evenly(29), 0.95, 2)(59 / 29)).toBe("below");
    expect(quantileSide(evenly(500), 0.95, 0.95)(100)).toBeNull();
  });
});

describe("long series", () => {
  /** Leaning on the one before; the variance of the mean is (1 + lean) / (1 - lean) times that of independent values. */
  const leaning = (n: number, lean: number, seed: number): Float64Array => {
    const random = seededRandom(seed);
    let at = random.normal();
    return Float64Array.from({ length: n }, () => (at = lean * at + Math.sqrt(1 - lean ** 2) * random.normal()));
  };
  const width = (values: Float64Array): number => {
    const [{ low, high }] = quantileIntervals(values, [0.5]) as [{ low: number; high: number }];
    return high - low;
  };

  it("have intervals as wide as shorter ones foretell, also where they are looked at in stretches", () => {
    for (const lean of [0, 0.9]) {
      const mean = (n: number): number =>
        [1, 2, 3, 4].reduce((sum, seed) => sum + width(leaning(n, lean, seed)) / 4, 0);
      // Eight times as many values, intervals narrower by the root of that.
      expect(mean(8000) / mean(64_000) / Math.sqrt(8)).toBeGreaterThan(0.75);
      expect(mean(8000) / mean(64_000) / Math.sqrt(8)).toBeLessThan(1.33);
    }
  });

  it("end soon where values drift, and every lag would have to be looked at", () => {
    // Without stretches this takes a square of the length: half an hour, and the test runner ends it.
    const drifting = Float64Array.from({ length: 1_000_000 }, (_, i) => 10 + i / 1e6 + ((i * 7919) % 1000) / 1000);
    expect(quantileIntervals(drifting, [0.5, 0.99])).toHaveLength(2);
  });
});
