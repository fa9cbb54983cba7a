import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadFacts, ModelLoadFacts } from "../../src/pipeline/load/load-facts.js";
import { renderJson } from "../../src/report/json.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const none = { low: null, high: null };
const bounds = { p50: none, p90: none, p95: none, p99: none, p999: none };
const percentiles = (p50Ms: number) => ({
  ...{ p50Ms, p90Ms: 1.8 * p50Ms, p95Ms: 2 * p50Ms, p99Ms: null, p999Ms: null },
  bounds,
});
const model = (parts: Partial<ModelLoadFacts> = {}): ModelLoadFacts => ({
  model: { path: "m/a.onnx", sha256: "aa", bytes: 1, nodes: 1 },
  ...{
    requests: 1234,
    offeredPerSecond: 40,
    servedPerSecond: 40,
    utilization: 0.55,
    meanWaitingMs: 2,
    peakRssBytes: 9,
  },
  ...{ latency: percentiles(9), waiting: percentiles(3), service: percentiles(6) },
  bounds,
  ...parts,
});
const facts = (models: readonly ModelLoadFacts[]): LoadFacts => ({
  ...{
    provider: "cpu",
    threads: 1,
    batch: 1,
    data: "d.npz",
    arrivals: "poisson",
    rate: 40,
    processes: 2,
    durationMs: 30_000,
  },
  models,
});
const resultOf = (load: LoadFacts) =>
  sampleResult({
    command: "bench",
    output: null,
    latency: null,
    accuracy: null,
    quantization: null,
    passes: [],
    difference: [],
    candidates: [],
    load,
  });
const text = (load: LoadFacts) => renderText(resultOf(load), palette(false));

describe("a load as text", () => {
  it("tells latency from the arrival, and what it is made of", () => {
    const shown = text(facts([model()]));
    expect(shown).toMatch(/a\.onnx +9\.00 +16\.2 +18\.0 +- +- +55 %/);
    expect(shown).toMatch(/waiting +3\.00 +5\.40 +6\.00/);
    expect(shown).toMatch(/being served +6\.00 +10\.8 +12\.0/);
    expect(shown).toContain("40.0 requests a second at random for 30.0 s: 1,234 counted");
    expect(shown).toContain("2 processes");
    expect(shown).not.toContain("limits are met up to");
    expect(Math.max(...shown.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("tells the highest rate, or that there is none", () => {
    const tried = [{ perSecond: 60, status: "missed" } as const, { perSecond: 50, status: "met" } as const];
    const found = text(facts([model({ maxRate: { perSecond: 50, failedPerSecond: 60, tried } })]));
    expect(found.replace(/\s+/g, " ")).toContain(
      "limits are met up to 50.0 requests a second, and not at 60.0 (2 rates tried)",
    );
    const nothing = text(facts([model({ maxRate: { perSecond: null, failedPerSecond: 50, tried } })]));
    expect(nothing.replace(/\s+/g, " ")).toContain("no rate tried meets the limits, down to 50.0 a second");
  });
});

it("is read back from a file", () => {
  const result = resultOf(facts([model()]));
  const folder = temporaryFolder({ "r.json": renderJson(result) });
  expect(readResult(join(folder, "r.json")).load).toEqual(result.load);
});
