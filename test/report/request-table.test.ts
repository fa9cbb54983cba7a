import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OverlapFacts, RequestFacts, StageFacts } from "../../src/pipeline/stages/request-facts.js";
import { renderJson } from "../../src/report/json.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const times = (p50Ms: number) => {
  const bound = { low: 0.98 * p50Ms, high: 1.02 * p50Ms };
  const none = { low: null, high: null };
  const bounds = { p50: bound, p90: bound, p95: bound, p99: none, p999: none };
  return { ...{ p50Ms, p90Ms: 1.5 * p50Ms, p95Ms: 2 * p50Ms, p99Ms: null, p999Ms: null, meanMs: p50Ms }, bounds };
};
const stage = (name: string, share: number, p50Ms: number): StageFacts => ({
  ...{ name, isOwn: name !== "inference", share, shareInterval: [share - 0.01, share + 0.01] },
  ...times(p50Ms),
});
const overlap = (speedup: number): OverlapFacts => ({
  ...{ speedup, speedupInterval: [speedup - 0.1, speedup + 0.1], serialPerSecond: 100 },
  ...{ overlappedPerSecond: 100 * speedup, latency: times(11) },
});
const facts = (parts: Partial<RequestFacts> = {}): RequestFacts => ({
  ...{ pipeline: "/app/steps.mjs", provider: "cpu", threads: 1, data: "/app/steps.mjs" },
  ...{ requests: 1200, distinct: 3, processes: 3, peakRssBytes: 9e7, notOverlapped: null },
  stages: [stage("preprocessing", 0.62, 6.2), stage("inference", 0.38, 3.8)],
  ...{ total: times(10), alone: times(3.7), first: { stages: ["preprocessing"], ifHalved: 1.45 } },
  overlap: overlap(1.5),
  ...parts,
});
const resultOf = (request: RequestFacts) =>
  sampleResult({
    ...{ command: "bench", output: null, latency: null, accuracy: null, quantization: null },
    ...{ passes: [], difference: [], candidates: [], request },
  });
const text = (parts: Partial<RequestFacts> = {}): string =>
  renderText(resultOf(facts(parts)), palette(false)).replaceAll(/\n /g, " ");

describe("whole requests as text", () => {
  it("have a row a stage, with share and percentiles, and one in total", () => {
    const shown = renderText(resultOf(facts()), palette(false));
    expect(shown).toMatch(/preprocessing +62\.0 % +61\.0 \.\. 63\.0 +6\.20 +9\.30 +12\.4 +- +-/);
    expect(shown).toMatch(/in total +10\.0 +15\.0 +20\.0 +- +-/);
    expect(Math.max(...shown.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("say where to begin, and who may take as much", () => {
    expect(text()).toContain("work on preprocessing first: 62.0 % of the time; if it took half as long");
    const first = { stages: ["preprocessing", "inference"], ifHalved: 1.45 };
    expect(text({ first })).toContain("(inference may well take as much)");
  });

  it.each([
    [1.5, "brings more"],
    [0.7, "costs more than it brings"],
    [1.05, "makes no difference that could be told"],
  ])("say what overlapping at %fx is worth", (speedup, words) => {
    expect(text({ overlap: overlap(speedup) })).toContain(`preparing the next request while the model runs ${words}`);
  });

  it("say why nothing was overlapped", () => {
    expect(text({ overlap: null, notOverlapped: "it holds a function" })).toContain(
      "not measured: it holds a function",
    );
  });

  it("tell when the model is slower among the stages than alone, and that can be seen", () => {
    expect(text()).not.toContain("back to back");
    expect(text({ alone: times(2.5) })).toContain(
      "the model takes 3.80 ms among the other stages, and 2.50 ms back to back",
    );
    const wide = { ...times(2.5), bounds: { ...times(2.5).bounds, p50: { low: 2, high: 5 } } };
    expect(text({ alone: wide })).not.toContain("back to back");
  });
});

it("whole requests are in the Markdown", () => {
  const shown = renderMarkdown(resultOf(facts()));
  expect(shown).toContain("| preprocessing | 62.0 % (61.0 % .. 63.0 %) | 6.20 | 9.30 | 12.4 | - | - |");
  expect(shown).toContain("- work on preprocessing first");
});

it("whole requests are read back from a file", () => {
  const result = resultOf(facts());
  const folder = temporaryFolder({ "r.json": renderJson(result) });
  expect(readResult(join(folder, "r.json")).request).toEqual(result.request);
});
