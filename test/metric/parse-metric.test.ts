import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { builtinMetrics, isRate, parseMetric } from "../../src/metric/index.js";

describe("parseMetric", () => {
  it("knows the built-in names", () => {
    for (const name of builtinMetrics) expect(parseMetric(name)).toEqual({ kind: "builtin", name });
  });

  it("takes what looks like a path for a module, from the folder given", () => {
    expect(parseMetric("wer.mjs", "/data")).toEqual({ kind: "module", path: resolve("/data/wer.mjs") });
    expect(parseMetric("../top1")).toEqual({ kind: "module", path: resolve("../top1") });
  });

  it("refuses other words and lists those it knows", () => {
    expect(() => parseMetric("top3")).toThrow(
      expect.objectContaining({ code: "METRIC_UNKNOWN", kind: "usage", hint: expect.stringContaining("top1, top5") }),
    );
  });
});

describe("isRate", () => {
  const rows = (...rows: number[][]) => rows.map((row) => Float64Array.from(row));

  it("is settled for built-in metrics", () => {
    expect(isRate({ kind: "builtin", name: "top1" }, [])).toBe(true);
    expect(isRate({ kind: "builtin", name: "mse" }, rows([0.1]))).toBe(false);
  });

  it("follows the scores of a module", () => {
    const ref = { kind: "module", path: "/m.mjs" } as const;
    expect(isRate(ref, rows([0, 1], [0.5, 0]))).toBe(true);
    expect(isRate(ref, rows([0, 1], [0.5, 31]))).toBe(false);
  });
});
