import { describe, expect, it } from "vitest";
import { latencyBins, latencyRange } from "../../src/report/latency-histogram.js";
import { share, ticksOf, valueAt } from "../../src/report/range.js";
import { sampleResult } from "./sample-result.js";

const at = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];
const facts = (baselineMs: readonly number[], candidateMs: readonly number[]) => ({
  ...sampleResult().latency!,
  runs: 1000,
  distribution: { at, baselineMs, candidateMs },
});

const even = facts([10, 10.2, 10.4, 10.6, 10.8, 10.9, 11, 11.2], [5, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.8]);
const tailed = facts([10, 10.2, 10.4, 10.6, 10.8, 30, 80, 200], [5, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.8]);

describe("the range of latencies", () => {
  it("is even where there is no tail", () => {
    const range = latencyRange(even.distribution);
    expect(range.bend).toBeUndefined();
    expect(range.isLogarithmic).toBeUndefined();
  });

  it("gives a tail a part of the axis, so that neither it nor the body is lost", () => {
    const range = latencyRange(tailed.distribution);
    expect(share(200, range)).toBeGreaterThan(0.95);
    expect(share(10.8, range) - share(10, range)).toBeGreaterThan(0.05);
    expect(share(range.bend!.at, range)).toBeCloseTo(range.bend!.share, 12);
    for (const value of [5, 10, 12, 50, 199]) expect(valueAt(share(value, range), range)).toBeCloseTo(value, 9);
    const ticks = ticksOf(range, 7);
    expect(ticks).toContain(100);
    expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b));
  });

  it("goes by ratios where the bodies themselves are far apart", () => {
    const range = latencyRange(
      facts([100, 101, 102, 103, 104, 105, 106, 110], tailed.distribution.candidateMs).distribution,
    );
    expect(range.isLogarithmic).toBe(true);
  });
});

describe("the histogram", () => {
  it.each([
    ["even", even],
    ["with a tail", tailed],
  ])("holds every run once: %s", (_, each) => {
    const bins = latencyBins({ ...each, runs: 1e9 }, latencyRange(each.distribution), 60);
    for (const side of ["before", "after"] as const)
      expect(bins.reduce((sum, bin) => sum + bin[side], 0)).toBeCloseTo(1, 6);
    for (const [i, bin] of bins.entries()) if (i > 0) expect(bin.fromMs).toBe(bins[i - 1]!.toMs);
  });

  it("shows nothing where less than a run lies in a bin", () => {
    const bins = latencyBins({ ...tailed, runs: 10 }, latencyRange(tailed.distribution), 60);
    expect(bins.filter(({ fromMs, before }) => fromMs > 100 && before > 0)).toEqual([]);
  });
});
