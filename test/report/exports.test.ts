import { describe, expect, it } from "vitest";
import { exportResult } from "../../src/report/exports.js";
import { renderAnnotations } from "../../src/report/github.js";
import { renderHtml } from "../../src/report/html/page.js";
import { renderJunit } from "../../src/report/junit.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { hostileNames } from "../support/result-arbitrary.js";
import { graphResult } from "./graph-result.js";
import { sampleResult } from "./sample-result.js";

const only = (format: "csv" | "metrics" | "benchmarkJson" | "resultTrace", result = graphResult()): string =>
  exportResult(result, format, "out")[0]!.text;

/** Fields of RFC 4180. */
const csvRows = (text: string): string[][] =>
  text
    .trimEnd()
    .split("\r\n")
    .map((line) => [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)].map(([, field]) => field!));

describe("exports", () => {
  it("have a row for each layer with the numbers of the JSON", () => {
    const [head, first] = csvRows(only("csv"));
    expect(head!.slice(0, 7)).toEqual([
      "node",
      "operator",
      "precision",
      "before_ms",
      "after_ms",
      "saved_ms",
      "sqnr_db",
    ]);
    expect(first!.slice(0, 7)).toEqual(["net/c", "Conv", "i8", "1.5", "0.5", "1", "31.25"]);
  });

  it("have a flat object of numbers", () => {
    const metrics = JSON.parse(only("metrics")) as Record<string, number>;
    expect(metrics).toMatchObject({ "latency.candidate.p90_ms": 11.8, "accuracy.delta": -0.0012, "verdict.pass": 1 });
    expect(metrics).not.toHaveProperty("latency.candidate.p999_ms");
    expect(
      Object.entries(metrics).filter(([key, value]) => !/^[\w.-]+$/.test(key) || typeof value !== "number"),
    ).toEqual([]);
  });

  it("have what is better when it is smaller", () => {
    const entries = JSON.parse(only("benchmarkJson")) as { name: string; unit: string; value: number }[];
    expect(entries.find(({ name }) => name === "net.int8.onnx p95")).toMatchObject({ unit: "ms", value: 11.92 });
    expect(entries.find(({ name }) => name.endsWith("top1 lost"))).toMatchObject({ value: 0.0012 });
  });

  it("have every percentile that there is, once for each model and setting, with its own range", () => {
    const { model, latency: _, ...rest } = graphResult();
    const times = { p50Ms: 1, p90Ms: 2, p95Ms: 3, p99Ms: null, p999Ms: 5 };
    const none = { low: null, high: null };
    const bounds = { p50: { low: 0.5, high: 1.5 }, p90: { low: 1.5, high: null }, p95: none, p99: none, p999: none };
    const row = { ...times, model, bounds, peakRssBytes: 1e6 };
    const latency = { ...sampleResult().latency!, candidate: { ...times, p50Ms: 99 } };
    const bench = { provider: "cpu", threads: 1, batch: 1, runs: 9, models: [row, row] };
    const setting = { ...times, model, threads: 2, peakRssBytes: 1 };
    const sweep = {
      provider: "cpu",
      settings: [
        { ...setting, batch: 1 },
        { ...setting, batch: 8 },
      ],
    };
    const all = { ...rest, model, latency, bench, sweep } as unknown as Parameters<typeof only>[1];
    const entries = JSON.parse(only("benchmarkJson", all)) as { name: string; value: number; range?: string }[];
    expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
    const shown = entries.map(({ name, value, range }) => [name, value, range]);
    expect(shown).toContainEqual(["net.onnx p50", 1, "0.5 .. 1.5"]);
    expect(shown).toContainEqual(["net.onnx p50 (2)", 1, "0.5 .. 1.5"]);
    expect(shown).toContainEqual(["net.onnx p90", 2, undefined]);
    expect(shown).toContainEqual(["net.onnx p99.9", 5, undefined]);
    expect(shown).toContainEqual(["net.onnx, batch 8, 2 threads p90", 2, undefined]);
    expect(entries.some(({ value }) => value === 99)).toBe(false);
  });

  it("tell nothing of accuracy on inputs that were made up", () => {
    const accuracy = { ...sampleResult().accuracy!, kind: "smoke" as const };
    const result = { ...graphResult(), accuracy };
    expect(only("benchmarkJson", result)).not.toContain("lost");
    expect(only("metrics", result)).not.toContain("accuracy.");
  });

  it("have the stages one after the other, in microseconds", () => {
    const { traceEvents } = JSON.parse(only("resultTrace")) as { traceEvents: { ph: string; dur?: number }[] };
    expect(traceEvents.filter(({ ph }) => ph === "X").map(({ dur }) => dur)).toEqual([100_000]);
    expect(traceEvents.filter(({ ph }) => ph === "C")).toHaveLength(2);
  });

  it("have a file of node data for each measure, by the tensor that a node makes", () => {
    const files = exportResult(graphResult(), "nodeData", "n.json");
    expect(files.map(({ path }) => path)).toContain("n.ms-saved.json");
    const saved = JSON.parse(files.find(({ path }) => path === "n.ms-saved.json")!.text);
    expect(saved.net.results).toEqual({ "net/c:0": { value: 1 } });
    expect(() => exportResult(sampleResult(), "nodeData", "n.json")).toThrow("says nothing of the nodes");
  });

  it.each(hostileNames)("are harmless, as all formats, with names like %j", (name) => {
    const result = graphResult(name);
    const page = renderHtml(result, `infer-opt quantize ${name}`);
    // Only what the page opens is closed: its data and its script.
    const opened = page.match(/<script(?: type="application\/json" class="(?:rest|drawing)")?>/g)!;
    expect(page.match(/<\/?script/gi)).toHaveLength(2 * opened.length);
    expect(page.match(/<\/script>/g)).toHaveLength(opened.length);
    expect(page).not.toMatch(/<(?:img|svg) (?:src|onload)/);
    for (const each of csvRows(only("csv", result))) expect(each).toHaveLength(10);
    expect(only("csv", result)).not.toMatch(/(^|,|\n)"?[=@+]/);
    for (const format of ["metrics", "benchmarkJson", "resultTrace"] as const) JSON.parse(only(format, result));
    for (const { text } of exportResult(result, "nodeData", "n")) JSON.parse(text);
    expect(renderJunit(result).match(/<testcase /g)).toHaveLength(2);
    const annotations = renderAnnotations(result).trimEnd().split("\n");
    expect(annotations.filter((line) => !/^::(notice|error|warning) title=/.test(line))).toEqual([]);
    const markdown = renderMarkdown(result, `infer-opt quantize ${name}`);
    expect(markdown).not.toMatch(/<(?!\/?(?:details|summary|code)\b|!-- infer-opt:)/);
    expect(markdown.length).toBeLessThan(65_536);
    const everything = [
      page,
      markdown,
      renderText(result, palette(false)),
      only("csv", result),
      renderJunit(result),
    ].join("");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(everything).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]/);
  });
});
