/** What the report prints are the numbers of the JSON, rounded to the digits that are shown; and no name breaks its lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";
import { cellsOf } from "../../src/report/cell-width.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { sheetOf } from "../../src/report/sheet.js";
import { renderText } from "../../src/report/text.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const plain = palette(false);
const [narrow, roomy] = [sheetOf(80, false), sheetOf(200, false)];

/** Rounded to the digits that are printed, the value is what is printed. */
function agrees(printed: string, value: number | null): boolean {
  if (value === null) return printed === "-";
  const figure = printed.replaceAll(",", "").replace(/(?:x| (?:pt|%|ms|B|kB|MB|GB|TB|a second))$/, "");
  const unit = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }[/[kMGT]B$/.exec(printed)?.[0] ?? ""] ?? 1;
  const places = (/\.(\d+)(?!.*e)/.exec(figure)?.[1] ?? "").length;
  const shown = Number(figure) * unit;
  // Integers of many digits are shown whole or to three digits.
  const last = figure.includes("e") ? Math.abs(shown) * 1e-2 : unit * 10 ** -places;
  return Number.isFinite(shown) && Math.abs(shown - value) <= last * 0.5000001;
}

const cellsIn = (line: string): string[] => line.trim().split(/ {2,}/);
const lineOf = (text: string, start: RegExp, after = 0): string[] =>
  cellsIn(
    text
      .slice(after)
      .split("\n")
      .find((line) => start.test(line)) ?? "",
  );

const ms = fc.double({ min: 1e-4, max: 1e5, noNaN: true });
const share = fc.double({ min: 0, max: 1, noNaN: true });
const times = fc.record({
  p50Ms: ms,
  p90Ms: fc.option(ms),
  p95Ms: fc.option(ms),
  p99Ms: fc.option(ms),
  p999Ms: fc.option(ms),
});
const size = fc.integer({ min: 1, max: 4e9 });

describe("numbers of the report agree with the JSON to the last digit", () => {
  it("of latency, speed, accuracy, size, limits and candidates", () => {
    fc.assert(
      fc.property(times, times, ms, share, share, size, size, (before, after, speed, old, now, largest, smallest) => {
        const sample = sampleResult();
        const result: RunResult = {
          ...sample,
          model: { ...sample.model, bytes: largest },
          output: { ...sample.output!, bytes: smallest },
          latency: {
            ...sample.latency!,
            baseline: before,
            candidate: after,
            speedup: speed,
            speedupInterval: [old, now],
          },
          accuracy: { ...sample.accuracy!, baseline: old, candidate: now, delta: now - old, deltaInterval: [old, now] },
          verdict: {
            ...sample.verdict,
            reasons: [
              {
                ...sample.verdict.reasons[0]!,
                limit: "min-speedup",
                unit: "times",
                wanted: speed,
                got: old,
                interval: [old, now],
              },
              {
                ...sample.verdict.reasons[1]!,
                limit: "slo p95",
                unit: "ms",
                wanted: speed,
                got: speed,
                interval: [null, speed],
              },
              { ...sample.verdict.reasons[1]!, limit: "max-size", unit: "bytes", wanted: largest, got: smallest },
            ],
          },
          candidates: [
            { ...sample.candidates[0]!, speedup: speed, accuracy: now, bytes: smallest },
            sample.candidates[1]!,
          ],
          difference: [{ output: "logits", maxAbs: speed, relativeL2: old, sqnrDb: speed, cosine: now }],
        };
        const text = renderText(result, plain);
        const table = text.indexOf(" latency ms");
        for (const [title, side] of [
          ["before", before],
          ["after", after],
        ] as const) {
          const [, p50, p90, p95, p99, p999] = lineOf(text, new RegExp(`^ ${title}`), table);
          expect([
            agrees(p50!, side.p50Ms),
            agrees(p90!, side.p90Ms),
            agrees(p95!, side.p95Ms),
            agrees(p99!, side.p99Ms),
            agrees(p999!, side.p999Ms),
          ]).toEqual([true, true, true, true, true]);
        }
        const speedLine = /speed +(\S+) as fast, interval (\S+) \.\. (\S+)/.exec(text)!;
        expect([speed, old, now].map((value, i) => agrees(speedLine[i + 1]!, value))).toEqual([true, true, true]);
        const limits = text.indexOf(" limits ");
        const [, name, wanted, got, interval] = lineOf(text, /^ ok/, limits);
        expect([name, agrees(wanted!, speed), agrees(got!, old)]).toEqual(["min-speedup", true, true]);
        expect(interval!.split(" .. ").map((end, i) => agrees(end, [old, now][i]!))).toEqual([true, true]);
        const slo = lineOf(text, /slo p95/, limits);
        expect([agrees(slo[2]!, speed), agrees(slo[3]!, speed), agrees(slo[4]!.replace("up to ", ""), speed)]).toEqual([
          true,
          true,
          true,
        ]);
        const limit = lineOf(text, /max-size/, limits);
        expect([agrees(limit[2]!, largest), agrees(limit[3]!, smallest)]).toEqual([true, true]);
        const accuracy = text.indexOf(" accuracy ");
        expect(agrees(lineOf(text, /^ {3}before/, accuracy)[1]!, old)).toBe(true);
        expect(agrees(lineOf(text, /^ {3}after/, accuracy)[1]!, now)).toBe(true);
        const sizes = text.indexOf("\n size\n");
        expect(agrees(lineOf(text, /^ {3}before/, sizes)[1]!, largest)).toBe(true);
        expect(agrees(lineOf(text, /^ {3}after/, sizes)[1]!, smallest)).toBe(true);
        const [, quick, right, decibels, weight] = lineOf(text, /^ \* int8/);
        expect([
          agrees(quick!, speed),
          agrees(right!, now),
          agrees(decibels!, 31.2),
          agrees(weight!, smallest),
        ]).toEqual([true, true, true, true]);
        const [, largestShift, relative, noise, cosine] = lineOf(text, /^ logits/);
        expect([
          agrees(largestShift!, speed),
          agrees(relative!, old),
          agrees(noise!, speed),
          agrees(cosine!, now),
        ]).toEqual([true, true, true, true]);
      }),
      { numRuns: 60 },
    );
  });

  it("of where the time went", () => {
    fc.assert(
      fc.property(ms, ms, ms, (conv, quick, gemm) => {
        const operatorTimes = {
          before: [
            { op: "Conv", nodes: 2, ms: conv },
            { op: "Gemm", nodes: 1, ms: gemm },
          ],
          after: [
            { op: "QLinearConv", nodes: 2, ms: quick },
            { op: "Gemm", nodes: 1, ms: gemm },
          ],
        };
        const text = renderText(sampleResult({ operatorTimes }), plain);
        const [, before, after, saved] = lineOf(text, /^ {3}Conv/);
        expect([agrees(before!, conv), agrees(after!, quick), agrees(saved!, conv - quick)]).toEqual([
          true,
          true,
          true,
        ]);
        const [, all, left] = lineOf(text, /^ {3}all/);
        expect([agrees(all!, conv + gemm), agrees(left!, quick + gemm)]).toEqual([true, true]);
      }),
    );
  });

  it("catches what does not agree", () => {
    expect([agrees("2.14x", 2.146), agrees("12.4", 12.46), agrees("1.01 MB", 1_016_000), agrees("-", 0)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

const wild: [string, string][] = [
  ["Chinese", "编码器/第一层/卷积/权重".repeat(20)],
  ["escapes of a terminal", "\u001b[2J\u001b]0;mine\u0007\u001b[31mFAIL"],
  ["line breaks", "a\nFAIL b\r\tc"],
  ["markup", "</script><script>alert(1)</script>"],
  ["writing from right to left", "| %0A :: \u202e gnp.exe"],
  ["length", "x".repeat(5000)],
  ["pictures", "🚀".repeat(300)],
];

/** Every text in a result that is no word of ours becomes one that nobody would wish for. */
function renamed<T>(value: T, name: string, key = ""): T {
  const names = ["node", "output", "name", "reason", "cpu", "onnxruntime", "region", "why", "metric", "value", "note"];
  if (typeof value === "string") {
    if (key === "path") return `models/${name}.onnx` as T;
    return names.includes(key) ? (name as T) : value;
  }
  if (Array.isArray(value))
    return value.map((each) => (typeof each === "string" && key !== "at" ? name : renamed(each, name, key))) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([own, part]) => [own, renamed(part, name, own)])) as T;
}

describe.each([
  ["a result made by hand", sampleResult()],
  ["one that was refused", refusedResult()],
  ["a real one", readResult("examples/digits.result.json")],
] as const)("%s", (_, result) => {
  it.each(wild)("holds its lines and the terminal with names of %s", (_, name) => {
    const hostile = renamed(result, name);
    for (const sheet of [narrow, roomy, sheetOf(110, false), sheetOf(80, true)]) {
      const text = renderText(hostile, plain, "infer-opt optimize x.onnx -o y.onnx", 15, sheet);
      const lines = text.split("\n");
      const wide = lines.filter((line) => cellsOf(line) > sheet.columns && !line.startsWith(" next  "));
      expect(wide).toEqual([]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may reach a terminal.
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(lines.filter((line) => /^ ?(PASS|FAIL|NO GAIN)/.test(line))).toHaveLength(1);
      if (sheet.isAscii) expect(text).toMatch(/^\p{ASCII}*$/u);
    }
  });

  it("tells more where there is room, and nothing less", () => {
    const words = (text: string): Set<string> => new Set(text.replace(/[█░]+/g, "").split(/\s+/));
    const [less, more] = [renderText(result, plain), renderText(result, plain, null, 15, roomy)];
    expect(cellsOf(more.split("\n").reduce((a, b) => (cellsOf(a) > cellsOf(b) ? a : b)))).toBeLessThanOrEqual(120);
    expect(words(more).size).toBeGreaterThan(words(less).size);
    expect(
      [...words(less)].filter((word) => !words(more).has(word) && !/\.\.\.|^other$|[-+]?[\d.]+$/.test(word)),
    ).toEqual([]);
  });
});
