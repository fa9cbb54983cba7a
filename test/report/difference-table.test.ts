import { describe, expect, it } from "vitest";
import type { DifferenceFacts } from "../../src/pipeline/result.js";
import { differenceLines, driftLines } from "../../src/report/difference-table.js";

const facts = (parts: Partial<DifferenceFacts> = {}): DifferenceFacts => ({
  ...{ output: "y", maxAbs: 0.5, relativeL2: 0.01, sqnrDb: 40, cosine: 0.99995 },
  ...parts,
});

describe("differences", () => {
  it("have the columns that were looked at", () => {
    expect(differenceLines([facts()])).toEqual([
      "outputs, pooled  max |diff|  relative L2  SQNR dB   cosine",
      "y                     0.500       0.0100     40.0  0.99995",
    ]);
    const detailed = differenceLines([
      facts({ rmse: 0.1, argmaxAgreement: 0.975 }),
      facts({ argmaxAgreement: null, sqnrDb: null }),
    ]);
    expect(detailed[0]).toMatch(/RMSE +relative L2 .* same top1$/);
    expect(detailed[1]).toMatch(/0\.500 +0\.100 .* 97\.5 %$/);
    expect(detailed[2]).toMatch(/equal +0\.99995 +-$/);
    expect(Math.max(...detailed.map(({ length }) => length))).toBeLessThanOrEqual(78);
  });

  it("have the ends of their intervals under each output", () => {
    const intervals = {
      ...{ rmse: [0.08, 0.12] as const, sqnrDb: [38, null] as const, cosine: [0.9999, 1] as const },
      argmaxAgreement: [0.95, 1] as const,
    };
    const lines = differenceLines([facts({ rmse: 0.1, argmaxAgreement: 0.975, intervals })]);
    expect(lines[2]).toMatch(/^ {2}95 % from +0\.0800 +38\.0 +0\.99990 +95\.0 %$/);
    expect(lines[3]).toMatch(/^ {2}to +0\.120 +equal +1(\.0+)? +100 %$/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(78);
  });

  it("are none without outputs, and few where there are many", () => {
    expect(differenceLines([])).toEqual([]);
    expect(differenceLines(Array.from({ length: 10 }, () => facts())).at(-1)).toBe("and 2 outputs more");
  });
});

it("the runtime's share tells the worst output of each comparison", () => {
  const lines = driftLines({
    asWritten: [facts({ output: "a", sqnrDb: null }), facts({ output: "b", sqnrDb: 20 })],
    baseline: [facts({ output: "a", sqnrDb: null, maxAbs: 0 })],
    candidate: [],
  });
  expect(lines[1]).toMatch(/both models as written +b +0\.500 +20\.0/);
  expect(lines[2]).toMatch(/before, .* a +0 +equal/);
  expect(lines[3]).toMatch(/after, .* - +- +-/);
});
