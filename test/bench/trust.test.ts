/** Short runs of the proofs in bench/trust that time nothing: on made-up latencies, answers and queues. */
import { describe, expect, it } from "vitest";
import { limitTrials, lossTrials } from "../../bench/trust/accuracy-trials.mjs";
import { speedupCoverage } from "../../bench/trust/coverage-trials.mjs";
import { latencySources } from "../../bench/trust/latency-sources.mjs";
import { pairedDifferenceInterval } from "../../src/base/bootstrap.js";
import { compareLatency } from "../../src/bench/index.js";
import { judgeAccuracy } from "../../src/pipeline/verdict/accuracy-limit.js";

describe("a gate on speed", () => {
  const trials = 40;
  const race = (name: string, truth: number) =>
    speedupCoverage(compareLatency, latencySources[name]!, {
      ...{ trials, truth, processDeviation: 0.007 },
      options: { minSpeedup: 0.95, budgetMs: 6000 },
    });

  it.each(["lognormal", "bimodal", "slow phases of 5 runs"])(
    "calls no copy of a model slower, and holds the truth in its interval: %s",
    async (name) => {
      const { missed, held } = await race(name, 1);
      expect(missed).toBe(0);
      expect(held).toBeGreaterThan(0.9 * trials);
    },
  );

  it.each(["lognormal", "bimodal"])("catches a fifth more work: %s", async (name) => {
    const { met, missed } = await race(name, 1 / 1.2);
    expect(met).toBe(0);
    expect(missed).toBeGreaterThanOrEqual(0.95 * trials);
  });

  it("passes no model that is a fifth slower where it cannot tell", async () => {
    expect((await race("lognormal, leaning 0.8", 1 / 1.2)).met).toBe(0);
  });
});

describe("a gate on accuracy", () => {
  const examined = { pairedDifferenceInterval, judgeAccuracy };
  const sets = 300;

  it.each([200, 1000, 5000])("with --confidence passes hardly one of twice the drop, on %d samples", (samples) => {
    const seen = limitTrials(examined, { sets, samples, drop: 0.02, changed: 0.05, confidence: 0.95 });
    expect(seen.met).toBeLessThanOrEqual(0.025 * sets);
  });

  it.each([10, 100])(
    "with --confidence passes hardly one of scores that a few far worse ones bring down, on %d",
    (samples) => {
      const seen = lossTrials(examined, { sets, samples, loss: "lognormal of sigma 2" });
      expect(seen.met).toBeLessThanOrEqual(0.025 * sets);
      expect(seen.advised).toBe(seen.inconclusive);
    },
  );

  it("with --confidence and too few samples cannot tell, and says how many it takes", () => {
    const seen = limitTrials(examined, { sets, samples: 100, drop: 0.002, changed: 0.02, confidence: 0.95 });
    expect(seen.inconclusive).toBeGreaterThan(0.9 * sets);
    expect(seen.advised).toBe(seen.inconclusive);
  });

  it.each([0.002, 0.01, 0.02])(
    "without it follows the value, and warns where the interval holds the limit: %d",
    (drop) => {
      const seen = limitTrials(examined, { sets, samples: 1000, drop, changed: 0.04, confidence: null });
      expect([seen.inconclusive, seen.follows, seen.warnsRightly]).toEqual([0, sets, sets]);
      expect(seen.warned).toBeGreaterThan(0);
    },
  );
});
