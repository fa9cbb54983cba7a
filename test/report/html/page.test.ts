/** What the page says, and that nothing which a file is called can break it. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../../src/pipeline/result.js";
import { renderHtml } from "../../../src/report/html/page.js";
import { milliseconds, ratio, score } from "../../../src/report/numbers.js";
import { refusedResult, sampleResult } from "../sample-result.js";
import { everyPanel } from "./every-panel.js";

const at = [0, 0.5, 0.95, 0.99, 1];
const distribution = { at, baselineMs: [20, 24.31, 25.9, 27.4, 30], candidateMs: [10, 11.36, 11.92, 13, 14] };
const timed = (): RunResult => sampleResult({ latency: { ...sampleResult().latency!, distribution } });

const textOf = (page: string): string =>
  page
    .replace(/<(script|style)>[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/\s+/g, " ");

const anchorsOf = (page: string): string[] => [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id!);

describe("renderHtml", () => {
  it("tells the verdict first, in the words of the other formats", () => {
    expect(textOf(renderHtml(sampleResult()))).toMatch(
      /^ PASS: net\.onnx → net\.int8\.onnx PASS net\.onnx → net\.int8\.onnx every limit is met: 2\.14x as fast, 3\.96x smaller, top1 0\.7600 -&gt; 0\.7588 /,
    );
    expect(textOf(renderHtml(refusedResult()))).toContain("NO GAIN");
  });

  it("says at the top which limits were missed or are open, and leads to what to do", () => {
    const reason = { wanted: 1, got: 2 };
    const failed = {
      ...sampleResult({ command: "gate", output: null, quantization: null }),
      candidateModel: { ...sampleResult().model, path: "b.onnx" },
      verdict: {
        ...{ status: "fail", outcome: "accuracy", summary: "top1 got worse" },
        reasons: [
          { ...reason, limit: "max-drop", status: "missed", text: "top1 got worse" },
          { ...reason, limit: "slo p95", status: "inconclusive", text: "p95 is 2 ms" },
          { ...reason, limit: "max-size", status: "met", text: "small enough" },
        ],
      },
    } as RunResult;
    const page = renderHtml(failed, "infer-opt gate a b");
    expect(textOf(page)).toContain(
      "b.onnx max-drop missed; slo p95 cannot be told. Next: where the two models part infer-opt gate",
    );
    expect(page).toContain('<a href="#next">');
    expect(page.split('id="next"')).toHaveLength(2);
    // The command to try next is that already.
    expect(anchorsOf(page)).not.toContain("losses");
  });

  it("has the times of a profile before its layers", () => {
    const order = anchorsOf(renderHtml(everyPanel({ command: "profile" })));
    expect(order.indexOf("time")).toBeLessThan(order.indexOf("layers"));
  });

  it("shows the numbers of the result as the other formats write them", () => {
    const { accuracy, latency } = sampleResult();
    const text = textOf(renderHtml(timed()));
    for (const number of [
      score(accuracy!.baseline),
      score(accuracy!.candidate),
      ratio(latency!.speedup),
      milliseconds(latency!.baseline.p95Ms),
      milliseconds(latency!.candidate.p99Ms),
    ]) {
      expect(text).toContain(` ${number} `);
    }
  });

  it("gives the same bytes for the same result", () => {
    expect(renderHtml(timed(), "infer-opt optimize a.onnx")).toBe(renderHtml(timed(), "infer-opt optimize a.onnx"));
  });

  it("links to every panel, and leaves out those with nothing to show", () => {
    const page = renderHtml(timed());
    expect([...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)).toEqual(anchorsOf(page));
    expect(anchorsOf(page)).toEqual([
      "verdict",
      "latency",
      "candidates",
      "losses",
      "layers",
      "difference",
      "decisions",
      "environment",
    ]);
    expect(anchorsOf(renderHtml(sampleResult()))).not.toContain("latency");
  });

  it("puts marks of percentiles where the curve is", () => {
    const page = renderHtml(timed());
    const ecdf = page.slice(0, page.indexOf("How many of 640 runs"));
    const curves = [...ecdf.matchAll(/<polyline class="(before|after)" points="([^"]+)"/g)].map(([, , points]) =>
      points!.split(" "),
    );
    const marks = [...page.matchAll(/<circle class="dot (?:base|taken)" cx="([^"]+)" cy="([^"]+)" r="4"/g)].map(
      ([, x, y]) => `${x},${y}`,
    );
    expect(curves.map((points) => points.length)).toEqual([5, 5]);
    expect(marks).toEqual([...curves[0]!.slice(1, 4), ...curves[1]!.slice(1, 4)]);
  });

  it("gives every chart a sentence and a table with the same numbers", () => {
    const page = renderHtml(timed());
    expect(page.match(/<svg [^>]*role="img"/g)).toHaveLength(2);
    expect(page).toContain("Share of runs by latency");
    expect(page).toMatch(
      /role="img" aria-label="Share of 640 runs that took no longer: the median is 24\.3 ms before and 11\.4 ms after\."/,
    );
    expect(page).toContain('<td class="n" data-v="0.95">95 %</td><td class="n">25.9</td><td class="n">11.9</td>');
  });

  it("shows names that strangers made as text", () => {
    const name = `</script><img src=x onerror=alert(1)>"'&\u202e\u001b[31m`;
    const result = sampleResult({
      model: { path: `${name}.onnx`, sha256: name, bytes: 1, nodes: 1 },
      warnings: [name],
      quantization: { ...sampleResult().quantization!, float: [{ node: name, op: name, reason: name }], notes: [name] },
      candidates: sampleResult().candidates.map((candidate) => ({ ...candidate, name, reason: name })),
      passes: [
        { name: "fuse-clip", applied: 0, skipped: [{ node: name, reason: name }], durationMs: 1, rejected: name },
      ],
    });
    const page = renderHtml(result, `infer-opt ${name}`);
    expect(page).not.toContain("<img");
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(page).not.toMatch(/[\u001b\u202e]/);
    expect(page).toContain("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\\u202e\\x1b[31m");
  });

  it("allows only its own style and script, and asks for nothing", () => {
    const page = renderHtml(timed());
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)![1]!.replaceAll("&#39;", "'");
    const hashOf = (tag: string): string =>
      createHash("sha256")
        .update(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page)![1]!)
        .digest("base64");
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain(`style-src 'sha256-${hashOf("style")}'`);
    expect(policy).toContain(`script-src 'sha256-${hashOf("script")}'`);
    expect(page).not.toMatch(/ (?:src|style|on\w+)=/);
    // The name of SVG is no address.
    expect(page.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:/);
  });

  it("shows a result with every optional field missing", () => {
    const bare = sampleResult({
      output: null,
      quantization: null,
      accuracy: null,
      latency: null,
      candidates: [],
      difference: [],
      passes: [],
      stages: [],
      warnings: [],
    });
    expect(anchorsOf(renderHtml(bare))).toEqual(["verdict", "environment"]);
  });

  it("stays below a megabyte with a thousand layers", () => {
    const regions = Array.from({ length: 1000 }, (_, i) => ({
      region: `/model/layers.${i}/conv/Conv`,
      nodes: [`/model/layers.${i}/conv/Conv`],
      form: "static" as const,
      sqnrDb: 30 + (i % 20),
      beforeMs: 0.1,
      afterMs: 0.05,
      reason: "",
    }));
    const float = regions.map(({ region }) => ({ node: region, op: "Conv", reason: "depthwise" }));
    const result = sampleResult({ quantization: { ...sampleResult().quantization!, regions, float } });
    expect(renderHtml(result).length).toBeLessThan(2 ** 20);
  });
});
