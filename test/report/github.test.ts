import { describe, expect, it } from "vitest";
import { renderAnnotations } from "../../src/report/github.js";
import { sampleResult } from "./sample-result.js";

const verdict = sampleResult().verdict;

describe("annotations", () => {
  it("notice what passed, and warn", () => {
    const lines = renderAnnotations(sampleResult()).split("\n");
    expect(lines[0]).toBe(
      "::notice title=infer-opt optimize%3A PASS (net.int8.onnx)::every limit is met: 2.14x as fast, 3.96x smaller, top1 0.7600 -> 0.7588",
    );
    expect(lines[1]).toMatch(/^::warning title=infer-opt optimize%3A warning \(net\.int8\.onnx\)::/);
  });

  it("are errors for what is missed or undecided, and for nothing else", () => {
    const reasons = [
      { limit: "max-drop", wanted: 1, got: 0.5, status: "met", text: "fine" },
      { limit: "slo p95", wanted: 1, got: 2, status: "missed", text: "95 % of 2, at most 1" },
      { limit: "max-size", wanted: 1, got: 2, status: "inconclusive", text: "who knows" },
    ] as const;
    const result = sampleResult({ verdict: { ...verdict, status: "fail", outcome: "latency", reasons }, warnings: [] });
    expect(renderAnnotations(result)).toBe(
      "::error title=infer-opt optimize%3A slo p95 missed (net.int8.onnx)::95 %25 of 2, at most 1\n" +
        "::error title=infer-opt optimize%3A max-size inconclusive (net.int8.onnx)::who knows\n",
    );
  });

  it("are an error for a verdict that no limit explains", () => {
    const none = { ...verdict, status: "fail", outcome: "no-gain", reasons: [], summary: "nothing to do" } as const;
    expect(renderAnnotations(sampleResult({ verdict: none, warnings: [] }))).toBe(
      "::error title=infer-opt optimize%3A NO GAIN (net.int8.onnx)::nothing to do\n",
    );
  });

  it("cannot be broken by names and texts", () => {
    const evil = "a\n::error::gone,b:%0Ac\u001b[31m";
    const result = sampleResult({ warnings: [evil], output: { ...sampleResult().model, path: `x/${evil}` } });
    const lines = renderAnnotations(result).split("\n");
    expect(lines).toHaveLength(3);
    expect(lines.slice(0, 2).every((line) => /^::(notice|warning) title=[^,]*::/.test(line))).toBe(true);
    expect(lines[1]).toContain("%250Ac");
    expect(lines.join("")).not.toContain("\u001b");
  });
});
