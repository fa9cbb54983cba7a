import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { OptimizeConfig } from "../../../src/pipeline/config.js";
import { rankCandidates } from "../../../src/pipeline/search/rank-candidates.js";

const candidate = (name: string, speedup: number, sqnrDb: number, bytes: number, statics: object | null): Candidate =>
  ({
    name,
    speedup,
    sqnrDb,
    built: { bytes },
    variant: { kind: "integers", recipe: { statics } },
  }) as unknown as Candidate;
const config = { quantize: { goal: "speed" }, limits: { maxDrop: "none" } } as unknown as OptimizeConfig;
const ranked = (...candidates: Candidate[]): string[] =>
  rankCandidates(candidates, config, true).map((each) => (each as unknown as { name: string }).name);

describe("rankCandidates", () => {
  it("has the smaller file first where estimates of a profile are alike", () => {
    const [whole, part] = [candidate("whole", 0.9, 88.5, 100, null), candidate("part", 0.95, 88.9, 120, null)];
    expect(ranked(part, whole)).toEqual(["whole", "part"]);
    expect(ranked(whole, part)).toEqual(["whole", "part"]);
  });

  it.each([
    ["faster by more than chance", 1.1, 88.9],
    ["more accurate", 0.95, 90],
  ])("has the one first that is %s", (_, speedup, sqnrDb) => {
    expect(ranked(candidate("whole", 0.9, 88.5, 100, null), candidate("part", speedup, sqnrDb, 120, null))).toEqual([
      "part",
      "whole",
    ]);
  });

  it("goes by the table of kernel times where that tells speeds", () => {
    const [whole, part] = [candidate("whole", 1.9, 20, 100, {}), candidate("part", 1.95, 20.1, 120, {})];
    expect(ranked(whole, part)).toEqual(["part", "whole"]);
  });
});
