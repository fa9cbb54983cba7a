import { describe, expect, it } from "vitest";
import { cellsOf } from "../../src/report/cell-width.js";
import { operatorFamily } from "../../src/report/operator-family.js";
import { plainSheet, sheetOf } from "../../src/report/sheet.js";
import { familyTimes, timeLines } from "../../src/report/time-table.js";
import { sampleResult } from "./sample-result.js";

const operatorTimes = {
  before: [
    { op: "Conv", nodes: 10, ms: 12 },
    { op: "FusedConv", nodes: 2, ms: 8 },
    { op: "Gemm", nodes: 1, ms: 2.1 },
  ],
  after: [
    { op: "QLinearConv", nodes: 12, ms: 8.1 },
    { op: "QGemm", nodes: 1, ms: 1.3 },
    { op: "QuantizeLinear", nodes: 2, ms: 0.5 },
    { op: "DequantizeLinear", nodes: 2, ms: 0.4 },
  ],
};

describe("where the time went", () => {
  it("is told by what operators do, with what integers cost", () => {
    expect(timeLines(sampleResult({ operatorTimes }), plainSheet)).toEqual([
      "where the time went, ms  before  after  saved",
      "  Conv                     20.0    8.1   11.9  ████████████████████████████████",
      "  Gemm                      2.1    1.3    0.8  ██",
      "  Quantize/Dequantize         -    0.9   -0.9  ░░",
      "  all                      22.1   10.3   11.8",
    ]);
  });

  it("counts nodes where there is room, and draws in ASCII where it must", () => {
    const lines = timeLines(sampleResult({ operatorTimes }), sheetOf(200, true));
    expect(lines[1]).toBe(`  Conv                      12    20.0     12    8.1   11.9  ${"#".repeat(36)}`);
    expect(lines[3]).toMatch(/ {2}---$/);
  });

  it("draws next to no bars where next to nothing changed", () => {
    const before = [{ op: "Conv", nodes: 1, ms: 100 }];
    const after = [{ op: "Conv", nodes: 1, ms: 99 }];
    expect(timeLines(sampleResult({ operatorTimes: { before, after } }), plainSheet)[1]).toMatch(/ 1 {2}█{3}$/);
  });

  it("leaves bars the room that names of wide characters leave", () => {
    const wide = [{ op: "畳み込み層", nodes: 1, ms: 9 }];
    for (const line of timeLines(sampleResult({ operatorTimes: { before: wide, after: [] } }), plainSheet)) {
      expect(cellsOf(line)).toBeLessThanOrEqual(plainSheet.columns);
    }
  });

  it("sums up what is many, and loses nothing by it", () => {
    const many = Array.from({ length: 20 }, (_, i) => ({ op: `Op${i}`, nodes: 1, ms: i + 1 }));
    const lines = timeLines(sampleResult({ operatorTimes: { before: many, after: [] }, latency: null }), plainSheet);
    expect(lines).toHaveLength(9);
    expect(lines.at(-2)).toMatch(/^ {2}other +105 +- +105/);
    expect(lines.at(-1)).toMatch(/^ {2}all +210 +- +210$/);
  });

  describe("beside a speed that was timed", () => {
    const linesAt = (
      afterMs: number,
      speedup: number,
      speedupInterval: readonly [number, number],
      [p50Ms, afterP50Ms]: readonly [number, number] = [10.5, 10.5],
    ) => {
      const shares = (ms: number) => [{ op: "Conv", nodes: 1, ms }];
      const { latency } = sampleResult();
      const result = sampleResult({
        operatorTimes: { before: shares(10), after: shares(afterMs) },
        latency: {
          ...{ ...latency!, speedup, speedupInterval },
          baseline: { ...latency!.baseline, p50Ms },
          candidate: { ...latency!.candidate, p50Ms: afterP50Ms },
        },
      });
      return timeLines(result, plainSheet).slice(3).join(" ").replace(/\s+/g, " ").trim();
    };

    it("says nothing where both are of one mind", () => {
      expect(linesAt(5, 2.1, [2.05, 2.15])).toBe("");
      expect(linesAt(9.95, 1.03, [1.02, 1.04])).toBe("");
    });

    it("says which counts where they are far apart, or where one is faster and the other slower", () => {
      const far = linesAt(5, 1.5, [1.45, 1.55]);
      expect(far).toContain("By these times the model would be 2.00x as fast");
      expect(far).toContain("Timed in turns it was 1.50x (1.45x .. 1.55x), which is what counts.");
      expect(linesAt(10.3, 1.04, [1.02, 1.06])).toContain("0.97x as fast");
      expect(linesAt(9.7, 0.98, [0.97, 0.99])).toContain("1.03x as fast");
    });

    it("says why the sum is more than the median, where it is well above", () => {
      const above =
        "Their sum (10.0 ms) is more than a run takes (median 7.00 ms): they hold what the profiler itself takes for each node.";
      expect(linesAt(5, 2, [1.95, 2.05], [7, 5])).toBe(above);
      expect(linesAt(5, 2, [1.95, 2.05], [10, 3])).toContain(
        "Their sum (5.00 ms) is more than a run takes (median 3.00 ms)",
      );
      expect(linesAt(5, 2, [1.95, 2.05], [9.5, 4.9])).toBe("");
      expect(linesAt(5, 1.5, [1.45, 1.55], [7, 5])).toMatch(/which is what counts[.] Their sum/);
    });

    it("stays within the sheet", () => {
      for (const line of timeLines(
        sampleResult({ operatorTimes: { ...operatorTimes, after: operatorTimes.before } }),
        plainSheet,
      )) {
        expect(cellsOf(line)).toBeLessThanOrEqual(plainSheet.columns);
      }
    });
  });

  it("is not told where it was not measured", () => {
    expect(familyTimes(sampleResult())).toBeNull();
    expect(timeLines(sampleResult(), plainSheet)).toEqual([]);
    expect(timeLines(sampleResult({ operatorTimes: { before: [], after: [] } }), plainSheet)).toEqual([]);
  });
});

describe("operatorFamily", () => {
  it.each([
    ["FusedConv", "Conv"],
    ["QLinearConv", "Conv"],
    ["NhwcFusedConv", "Conv"],
    ["NhwcMaxPool", "MaxPool"],
    ["QLinearGlobalAveragePool", "GlobalAveragePool"],
    ["FusedMatMul", "MatMul"],
    ["DynamicQuantizeMatMul", "MatMul"],
    ["DequantizeLinear", "Quantize/Dequantize"],
    ["Softmax", "Softmax"],
  ])("of %s is %s", (op, family) => expect(operatorFamily(op)).toBe(family));
});
