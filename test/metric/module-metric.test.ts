import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { loadMetric } from "../../src/metric/index.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "metric-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function moduleOf(source: string, extension = "mjs"): string {
  const path = join(folder, `metric-${files++}.${extension}`);
  writeFileSync(path, source);
  return path;
}

const load = (source: string, extension?: string) => loadMetric({ kind: "module", path: moduleOf(source, extension) });
const whole = (score: string) => `export const name = "m"; export const higherIsBetter = false; export ${score}`;
const sample = { id: "lines.jsonl:7", inputs: { x: { type: "float32", dims: [1], data: Float32Array.of(4) } } };
const outputs = { y: { type: "float32", dims: [1], data: Float32Array.of(2) } };
const reference = { y: { type: "float32", dims: [1], data: Float32Array.of(1) } };

describe("a metric module", () => {
  it("receives outputs, labels, inputs and reference", async () => {
    const metric = await load(
      whole("function score(o, l, s, r) { return o.y.data[0] * 1000 + l * 100 + s.x.data[0] * 10 + r.y.data[0] }"),
    );
    expect(await metric.score(outputs, 3, sample, reference)).toBe(2341);
    expect(metric).toMatchObject({ name: "m", higherIsBetter: false, needsLabels: null, needsReference: null });
  });

  it("may promise its score", async () => {
    const metric = await load(whole("const score = async () => 0.25"));
    expect(await metric.score(outputs, null, sample, reference)).toBe(0.25);
  });

  it("may be CommonJS", async () => {
    const metric = await load('module.exports = { name: "c", higherIsBetter: true, score: () => 1 }', "cjs");
    expect(await metric.score(outputs, null, sample, reference)).toBe(1);
  });

  it("must be there", async () => {
    const path = join(folder, "nowhere.mjs");
    await expect(loadMetric({ kind: "module", path })).rejects.toMatchObject({
      code: "METRIC_MODULE_MISSING",
      kind: "input",
      message: expect.stringContaining(path),
    });
  });

  it("must load", async () => {
    await expect(load("export const = ;")).rejects.toMatchObject({ code: "METRIC_MODULE_FAILED" });
    await expect(load('throw new Error("no list of words")')).rejects.toThrow(/no list of words/);
  });

  it.each([
    ["name", "export const higherIsBetter = true; export const score = () => 1", /"name".*does not export it/],
    [
      "higherIsBetter",
      'export const name = "m"; export const higherIsBetter = "yes"',
      /"higherIsBetter".*exports "yes"/,
    ],
    [
      "score",
      'export const name = "m"; export const higherIsBetter = true; export const score = 1',
      /"score".*exports 1/,
    ],
  ])("must export %s", async (missing, source, message) => {
    const failing = load(source);
    await expect(failing).rejects.toMatchObject({ code: "METRIC_MODULE_EXPORTS", fields: { export: missing } });
    await expect(failing).rejects.toThrow(message);
  });

  it.each(["NaN", "1 / 0", "undefined", "'1'", "1e308", "-1e200"])("may not score %s", async (value) => {
    const metric = await load(whole(`const score = () => ${value}`));
    const failing = metric.score(outputs, null, sample, reference);
    await expect(failing).rejects.toMatchObject({ code: "METRIC_SCORE_INVALID", kind: "input" });
    await expect(failing).rejects.toThrow(/metric-\d+\.mjs scored .* on sample lines\.jsonl:7/);
  });

  it("is not waited for without end, whatever kind of promise it gives", async () => {
    vi.useFakeTimers();
    try {
      const metric = await load(whole("const score = () => ({ then() {} })"));
      const failing = Promise.resolve(metric.score(outputs, null, sample, reference)).catch((fault: unknown) => fault);
      await vi.advanceTimersByTimeAsync(31_000);
      expect(await failing).toMatchObject({
        code: "METRIC_SCORE_FAILED",
        message: expect.stringContaining("no score within 30 s"),
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it("is named when it throws", async () => {
    const metric = await load(whole('function score() { throw new Error("bad line") }'));
    const failing = metric.score(outputs, null, sample, reference);
    await expect(failing).rejects.toMatchObject({ code: "METRIC_SCORE_FAILED" });
    await expect(failing).rejects.toThrow(/metric-\d+\.mjs failed on sample lines\.jsonl:7: bad line/);
  });
});
