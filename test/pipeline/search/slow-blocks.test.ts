import { describe, expect, it } from "vitest";
import type { BuiltModel } from "../../../src/pipeline/candidates/built-model.js";
import { slowBlocks } from "../../../src/pipeline/search/slow-blocks.js";
import type { LatencyMeasure } from "../../../src/pipeline/verdict/verdict.js";

const built = (...forms: readonly ("weights4" | "weights8")[]): { built: BuiltModel } => ({
  built: {
    path: "",
    bytes: 1,
    forms: new Map(forms.map((form, i) => [`n${i}`, form])),
    float: [],
    notes: [],
    finished: [],
  },
});
const latency = (speedup: number, speedupInterval: readonly [number, number]): LatencyMeasure =>
  ({ facts: { speedup, speedupInterval } }) as unknown as LatencyMeasure;

describe("slowBlocks", () => {
  it("tells of 4 bits that are slower beyond the noise", () => {
    const told = slowBlocks(built("weights8", "weights4"), latency(0.6, [0.55, 0.65]));
    expect(told).toContain("0.60x");
    expect(told).toContain("--bits 8");
  });

  it.each([
    ["8 bits", built("weights8"), latency(0.6, [0.5, 0.7])],
    ["what may be noise", built("weights4"), latency(0.9, [0.7, 1.1])],
    ["what is faster", built("weights4"), latency(1.4, [1.3, 1.5])],
    ["what was not timed", built("weights4"), null],
  ])("is silent of %s", (_, candidate, measure) => {
    expect(slowBlocks(candidate, measure)).toBeNull();
  });
});
