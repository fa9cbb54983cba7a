import { join } from "node:path";
import { expect, it } from "vitest";
import type { BenchFacts, BenchRow } from "../../src/pipeline/result.js";
import { renderHtml } from "../../src/report/html/page.js";
import { renderJson } from "../../src/report/json.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const none = { low: null, high: null };
const row = (path: string, parts: Partial<BenchRow> = {}): BenchRow => ({
  model: { path, sha256: "aa", bytes: 1, nodes: 1 },
  ...{
    p50Ms: 1250,
    p90Ms: 1290,
    p95Ms: 1300,
    p99Ms: null,
    p999Ms: null,
    throughputPerSecond: 0.8,
    loadMs: 900,
    firstRunMs: 1634,
  },
  ...{ bounds: { p50: none, p90: none, p95: none, p99: none, p999: none }, peakRssBytes: 3.9e8 },
  ...{ speedup: null, speedupInterval: null },
  ...parts,
});
const start: Partial<BenchRow> = {
  coldStart: { processMs: 40.5, runtimeMs: 27.5, sessionMs: 1160, firstRunMs: 1634, totalMs: 2862, steadyMs: 1250 },
  memory: { runtimeBytes: 54.1e6, sessionBytes: 3.84e8, peakBytes: 3.9e8 },
};
const resultOf = (models: readonly BenchRow[]) => {
  const bench: BenchFacts = {
    ...{ provider: "cpu", threads: 1, batch: 1, runs: 60, processes: 3, data: "random inputs", models, noise: null },
  };
  return sampleResult({ command: "bench", latency: null, bench });
};

it("the cold start has a row a model, in parts, with the memory before and with it", () => {
  const shown = renderText(resultOf([row("m/a-model-of-a-long-name.onnx", start)]), palette(false));
  expect(shown).toMatch(/cold start ms +process +runtime +session +run +in all +no model +loaded/);
  expect(shown).toMatch(/ 40\.5 +27\.5 +1,160 +1,634 +2,862 +54\.1 MB +384 MB/);
  expect(Math.max(...shown.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
});

it("results of earlier versions, which tell nothing of the start, are shown without", () => {
  expect(renderText(resultOf([row("m/a.onnx")]), palette(false))).not.toContain("cold start");
});

it("start and memory are read back from a file", () => {
  const result = resultOf([row("m/a.onnx", start)]);
  const folder = temporaryFolder({ "r.json": renderJson(result) });
  expect(readResult(join(folder, "r.json")).bench).toEqual(result.bench);
});

it("files of one name are told apart by their folders, in the text, in Markdown and on the page", () => {
  const result = resultOf([row("runs/a/model.onnx", start), row("runs/b/model.onnx", start)]);
  const shown = renderText(result, palette(false));
  // Percentiles, speeds, the cold start: a row of each model in each table.
  for (const name of ["a/model.onnx", "b/model.onnx"]) expect(shown.split(`${name} `)).toHaveLength(4);
  expect(renderMarkdown(result)).toContain("`b/model.onnx`");
  expect(renderHtml(result)).toContain("a/model.onnx, b/model.onnx");
});
