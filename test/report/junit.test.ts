import { describe, expect, it } from "vitest";
import { renderJunit } from "../../src/report/junit.js";
import { refusedResult, sampleResult } from "./sample-result.js";

describe("renderJunit", () => {
  it("has a test case for each limit", () => {
    expect(renderJunit(sampleResult())).toBe(
      [
        `<?xml version="1.0" encoding="UTF-8"?>`,
        `<testsuites name="infer-opt" tests="2" failures="0" errors="0" skipped="0" time="42.000">`,
        `  <testsuite name="infer-opt optimize" tests="2" failures="0" errors="0" skipped="0" time="42.000">`,
        `    <testcase classname="net.int8.onnx" name="max-drop"/>`,
        `    <testcase classname="net.int8.onnx" name="min-speedup"/>`,
        "    <system-out>PASS: every limit is met: 2.14x as fast, 3.96x smaller, top1 0.7600 -&gt; 0.7588</system-out>",
        "  </testsuite>",
        "</testsuites>",
        "",
      ].join("\n"),
    );
  });

  it("fails what was missed", () => {
    const text = renderJunit(refusedResult());
    expect(text).toContain(`tests="1" failures="1"`);
    expect(text).toContain(`<failure type="missed" message="0.97x as fast">0.97x as fast</failure>`);
  });

  it("keeps a case for each of several models, by one name that no other has", () => {
    const reason = { limit: "rate", wanted: 1, got: 1, status: "met", text: "a served" } as const;
    const reasons = [reason, { ...reason, text: "b served" }, { ...reason, limit: "slo p95" }];
    const text = renderJunit(sampleResult({ verdict: { ...sampleResult().verdict, reasons } }));
    expect([...text.matchAll(/testcase classname="net.int8.onnx" name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
      "rate",
      "rate (2)",
      "slo p95",
    ]);
  });

  it("fails what could not be decided, for skipped looks green", () => {
    const reason = { limit: "slo p99", wanted: 1, got: null, status: "inconclusive", text: "too few runs" } as const;
    const verdict = { status: "inconclusive", outcome: "inconclusive", reasons: [reason], summary: "?" } as const;
    expect(renderJunit(sampleResult({ verdict }))).toContain(`<failure type="inconclusive" message="too few runs">`);
  });

  it("fails a run that was refused without a limit", () => {
    const verdict = { status: "fail", outcome: "accuracy", reasons: [], summary: "output y is damaged" } as const;
    expect(renderJunit(sampleResult({ verdict }))).toContain(`name="outcome">`);
  });

  it("escapes what XML would read as markup, and spells out what it forbids", () => {
    const reason = { limit: `"<&>`, wanted: 1, got: 1, status: "missed", text: "a\u0001<b>]]>" } as const;
    const verdict = { status: "fail", outcome: "latency", reasons: [reason], summary: "" } as const;
    const text = renderJunit(sampleResult({ verdict }));
    expect(text).toContain(`name="&quot;&lt;&amp;&gt;"`);
    expect(text).toContain("a\\x01&lt;b&gt;]]&gt;");
  });
});
