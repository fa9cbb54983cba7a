import { describe, expect, it } from "vitest";
import type { CandidateFacts } from "../../src/pipeline/result.js";
import { commonSpeed, speedColumns, speedRemark } from "../../src/report/candidate-speed.js";
import { renderHtml } from "../../src/report/html/page.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { candidatePoints } from "../../src/report/pareto.js";
import { renderText } from "../../src/report/text.js";
import { sampleResult } from "./sample-result.js";

type Speeds = Pick<CandidateFacts, "speedup" | "estimate" | "timed">;
const [first, second] = sampleResult().candidates as [CandidateFacts, CandidateFacts];
const raced: Speeds = { speedup: 1.3, estimate: 1.45, timed: 1.3 };
const estimated: Speeds = { speedup: 1.37, estimate: 1.37, timed: null };
const candidates = (one: Partial<Speeds>, other: Partial<Speeds>): CandidateFacts[] => [
  { ...first, ...one },
  { ...second, reason: "", sqnrDb: 20, ...other },
];
const titles = (...all: Parameters<typeof candidates>) => speedColumns(candidates(...all)).map(({ title }) => title);

describe("speeds of candidates", () => {
  it("stand in columns of their own where some were timed and others only estimated", () => {
    expect(titles(raced, estimated)).toEqual(["estimate", "timed"]);
    expect(titles(estimated, estimated)).toEqual(["estimate"]);
    expect(titles(raced, raced)).toEqual(["speed"]);
    expect(titles(raced, { speedup: null, estimate: null, timed: null })).toEqual(["speed"]);
    expect(speedRemark(candidates(raced, estimated))).toContain("timed:");
    expect(speedRemark(candidates(estimated, estimated))).not.toContain("timed:");
    // Of results of earlier versions nobody knows.
    expect(titles({}, {})).toEqual(["speed"]);
    expect(speedRemark(candidates({}, {}))).toBeNull();
  });

  it("are compared in the measure that more of them have", () => {
    expect(commonSpeed(candidates(raced, estimated)).title).toBe("estimate");
    expect(commonSpeed(candidates(raced, raced)).title).toBe("timed");
    const result = sampleResult({ candidates: candidates(raced, estimated) });
    expect(candidatePoints(result).map(({ speed }) => speed)).toEqual([1.45, 1.37]);
  });

  it("never stand in one column of a report where they are of two measures", () => {
    const result = sampleResult({ candidates: candidates(raced, estimated) });
    const text = renderText(result, palette(false));
    const lines = text.split("\n");
    const head = lines.findIndex((line) => line.startsWith(" candidates"));
    expect(lines.slice(head, head + 3).map((line) => line.trim().split(/ {2,}/).slice(1, 3))).toEqual([
      ["estimate", "timed"],
      ["1.45x", "1.30x"],
      ["1.37x", "-"],
    ]);
    expect(text).toContain("timed: in turns with");
    expect(renderMarkdown(result)).toContain("| candidate | estimate | timed |");
    expect(renderMarkdown(result)).toContain("| float32 fused | 1.37x | - |");
    const page = renderHtml(result);
    expect(page).toContain("times as fast, by estimate");
    expect(page).toMatch(/<th[^>]*>(<[^>]+>)*estimate/);
  });

  it("say so where estimates are beside another model than what was timed", () => {
    const rewritten = { estimateBeside: "rewritten" } as const;
    const all = candidates(raced, estimated).map((each) => ({ ...each, ...rewritten }));
    expect(speedRemark(all)).toContain("estimate: beside the float model as rewritten");
    expect(speedRemark(candidates(raced, estimated))).not.toContain("rewritten");
    expect(renderHtml(sampleResult({ candidates: all }))).toContain("as fast as the float model as rewritten");
    expect(renderHtml(sampleResult({ candidates: candidates(raced, estimated) }))).toContain("as fast as before");
  });

  it("of those that lost a race have its interval, and where there is no column for it their reason", () => {
    const lost = { speedup: 1.2, estimate: 1.4, timed: 1.2 };
    const [one, other] = candidates(raced, lost);
    const result = sampleResult({
      candidates: [one!, { ...other!, timedInterval: [1.1, 1.3], reason: "slower in a race: 1.20x" }],
    });
    const lines = renderText(result, palette(false)).split("\n");
    expect(lines).toContain(`   ${other!.name}: slower in a race: 1.20x`);
    expect(renderMarkdown(result)).toContain("| 1.10x .. 1.30x |");
    expect(renderHtml(result)).toContain("1.10x .. 1.30x");
  });
});
