import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SweepFacts, SweepSettingFacts } from "../../src/pipeline/sweep/sweep-facts.js";
import { renderJson } from "../../src/report/json.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const setting = (batch: number, status: "met" | "missed" | null, path = "m/a.onnx"): SweepSettingFacts => ({
  model: { path, sha256: "aa", bytes: 1, nodes: 1 },
  ...{ batch, threads: 1, runs: 100, p50Ms: 4, p95Ms: 5, p99Ms: null, p999Ms: null, throughputPerSecond: 250 * batch },
  ...{ loadMs: 80, firstRunMs: 5, peakRssBytes: 9e7, costPerMillion: status === null ? null : 0.75 / batch },
  limits: status === null ? [] : [{ limit: "slo p95", wanted: 4, got: 5, status, text: "" }],
});
const facts = (settings: readonly SweepSettingFacts[], best: number | null = 0): SweepFacts => ({
  ...{ provider: "cpu", data: "random inputs", costPerHour: settings[0]!.costPerMillion, settings, fastest: 0, best },
});
const resultOf = (sweep: SweepFacts) =>
  sampleResult({
    command: "bench",
    output: null,
    latency: null,
    accuracy: null,
    quantization: null,
    passes: [],
    difference: [],
    candidates: [],
    sweep,
  });
const text = (sweep: SweepFacts): string => renderText(resultOf(sweep), palette(false));

describe("settings as text", () => {
  it("have a row each, the best with a star, limits and price where they were asked for", () => {
    const shown = text(facts([setting(1, "met"), setting(8, "missed")]));
    expect(shown).toMatch(/\* 1 +1 +4\.00 +5\.00 +- +250 +90\.0 MB +0\.750 +ok/);
    expect(shown).toMatch(/ {3}8 +1 +4\.00 +5\.00 +- +2,000 +90\.0 MB +0\.0938 +miss/);
    expect(Math.max(...shown.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("have every percentile where there is room", () => {
    const often = { ...setting(1, null), p90Ms: 4.5, p999Ms: 7 };
    expect(text(facts([often]))).toMatch(/p50 ms +p90 +p95 +p99 +p99\.9 [\s\S]*4\.00 +4\.50 +5\.00 +- +7\.00 +250/);
    const priced = { ...often, costPerMillion: 0.75 };
    expect(text(facts([{ ...priced, limits: setting(1, "met").limits }]))).toMatch(/p50 ms +p95 +p99 +a second/);
  });

  it("leave out columns that say nothing, and name models where there are several", () => {
    const one = text(facts([setting(1, null)]));
    expect(one).not.toMatch(/memory +limits/);
    expect(one).not.toContain("cost");
    expect(text(facts([setting(1, null), setting(1, null, "m/b.onnx")]))).toMatch(/b\.onnx, 1/);
  });
});

it("are read back from a file", () => {
  const result = resultOf(facts([setting(1, "met")], null));
  const folder = temporaryFolder({ "r.json": renderJson(result) });
  expect(readResult(join(folder, "r.json")).sweep).toEqual(result.sweep);
});
