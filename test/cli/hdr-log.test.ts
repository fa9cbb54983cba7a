import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HistogramLogReader } from "hdr-histogram-js";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";
import { digitsModel } from "../support/real-run.js";
import { scene } from "../support/scene.js";

describe("bench --hdr-log", () => {
  it.each([
    ["one after the other", [], ["digits.onnx"]],
    ["as they arrive", ["--rate", "100"], ["digits.onnx", "digits.onnx:waiting", "digits.onnx:served"]],
    ["in several settings", ["--batch", "1,2"], ["digits.onnx:batch=1:threads=1", "digits.onnx:batch=2:threads=1"]],
  ])("holds the times of runs %s, whose percentiles are those of the result", async (_, flags, tags) => {
    const here = scene();
    const path = join(here.folder, "run.hlog");
    const argv = ["bench", digitsModel, "--threads", "1", "--budget", "1s", ...flags, "--hdr-log", path, "--json"];
    const result = JSON.parse((await here.run(argv)).stdout) as RunResult;
    const reader = new HistogramLogReader(readFileSync(path, "utf8"));
    const logged = tags.map(() => reader.nextIntervalHistogram()!);
    expect(logged.map(({ tag }) => tag)).toEqual(tags);
    expect(reader.nextIntervalHistogram()).toBeNull();
    const load = result.load?.models[0];
    const printed = load
      ? [load.latency, load.waiting, load.service]
      : (result.bench?.models ?? result.sweep!.settings);
    for (const [i, { p50Ms, p95Ms }] of printed.entries()) {
      expect(near(logged[i]!.getValueAtPercentile(50), p50Ms)).toBe(true);
      if (p95Ms !== null) expect(near(logged[i]!.getValueAtPercentile(95), p95Ms)).toBe(true);
    }
  });
});

const near = (ns: number, ms: number): boolean => Math.abs(ns / 1e6 - ms) <= 1.001e-3 * ms + 1e-6;
