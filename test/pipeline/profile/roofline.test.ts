import { describe, expect, it } from "vitest";
import { beatsPeak, higherPeaks, rooflineOf } from "../../../src/pipeline/profile/roofline.js";

const peaks = { flopsPerSecond: 100e9, intOpsPerSecond: 400e9, bytesPerSecond: 10e9 };

describe("what bounds a node", () => {
  it.each([
    ["arithmetic", { flops: 1e8, bytes: 1e6 }, false, 2, { bound: "compute", share: 0.5 }],
    ["memory", { flops: 1e6, bytes: 1e7 }, false, 2, { bound: "memory", share: 0.5 }],
    [
      "arithmetic of integers, by their own peak",
      { flops: 4e8, bytes: 1e6 },
      true,
      2,
      { bound: "compute", share: 0.5 },
    ],
    [
      "neither, when it takes far longer than both",
      { flops: 1e6, bytes: 1e5 },
      false,
      1,
      { bound: "neither", share: 0.01 },
    ],
    ["memory, and faster than it from a cache", { flops: 0, bytes: 1e7 }, false, 0.5, { bound: "memory", share: 2 }],
    ["nobody knows, without shapes", { flops: null, bytes: 1e7 }, false, 1, { bound: "unknown", share: null }],
    ["nobody knows, when no time was seen", { flops: 1, bytes: 1 }, false, 0, { bound: "unknown", share: null }],
  ] as const)("is %s", (_, work, isInteger, ms, expected) => {
    const { bound, share } = rooflineOf(work, isInteger, ms, peaks);
    expect(bound).toBe(expected.bound);
    if (expected.share === null) expect(share).toBeNull();
    else expect(share).toBeCloseTo(expected.share, 10);
  });
});

describe("a peak that nodes beat", () => {
  const node = (name: string, bound: "compute" | "memory", peakShare: number | null) => ({ name, bound, peakShare });

  it("is one of arithmetic: what a cache holds is read faster than memory", () => {
    expect(beatsPeak([node("a", "memory", 5), node("b", "compute", 1.1), node("c", "compute", null)])).toBeNull();
    const nodes = [node("a", "compute", 1.5), node("b", "compute", 5.5), node("c", "compute", 2)];
    expect(beatsPeak(nodes)).toEqual(node("b", "compute", 5.5));
  });

  it("is measured again, and the higher of each counts", () => {
    const other = { flopsPerSecond: 50e9, intOpsPerSecond: 500e9, bytesPerSecond: 12e9 };
    expect(higherPeaks(peaks, other)).toEqual({ flopsPerSecond: 100e9, intOpsPerSecond: 500e9, bytesPerSecond: 12e9 });
  });
});
