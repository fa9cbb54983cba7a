/** The command that is suggested after a result: it can be pasted, and it leads on. */
import { describe, expect, it } from "vitest";
import type { RunResult, Verdict } from "../../src/pipeline/result.js";
import { suggest } from "../../src/report/next.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const verdict = (outcome: Verdict["outcome"], limit: string): Verdict => ({
  status: "inconclusive",
  outcome,
  reasons: [{ limit, wanted: 1, got: 1, status: "inconclusive", text: "" }],
  summary: "",
});
const commandOf = (result: RunResult, line: string | null): string | null => suggest(result, line)?.command ?? null;

describe("the next command", () => {
  it("explains the stored result where there is one", () => {
    const line = "infer-opt optimize models/net.onnx -o x.onnx --report r.md --report 'my r.json' --threads 1";
    expect(commandOf(sampleResult(), line)).toBe("infer-opt explain 'my r.json'");
    expect(commandOf(sampleResult(), null)).toBe("infer-opt explain models/net.onnx");
  });

  it("replaces a budget that was too short", () => {
    const result = { ...refusedResult(), verdict: verdict("inconclusive", "min-speedup") };
    expect(commandOf(result, "infer-opt gate a b --budget 30s --json")).toBe("infer-opt gate a b --json --budget 5m");
    expect(commandOf(result, "infer-opt gate a b --budget=30s")).toBe("infer-opt gate a b --budget 5m");
    expect(commandOf(result, "infer-opt gate a b --fold-budget 0B")).toBe(
      "infer-opt gate a b --fold-budget 0B --budget 5m",
    );
  });

  it("asks for no more time where samples are too few", () => {
    expect(
      commandOf({ ...refusedResult(), verdict: verdict("inconclusive", "max-drop") }, "infer-opt gate a b"),
    ).toBeNull();
  });

  it("offers a smaller file only where a candidate was smaller", () => {
    const result = refusedResult();
    expect(commandOf({ ...result, candidates: [] }, "infer-opt optimize a -o b")).toBeNull();
  });

  it("does not time a file against itself, nor a copy", () => {
    const { quantization: _, latency: __, candidates: ___, ...bare } = sampleResult();
    const result = {
      ...bare,
      command: "fuse",
      quantization: null,
      latency: null,
      candidates: [],
    } as unknown as RunResult;
    const output = { ...result.model, path: "out.onnx" };
    const applied = [{ name: "fuse-pad", applied: 1 }] as unknown as RunResult["passes"];
    expect(commandOf({ ...result, output, passes: applied }, null)).toBe("infer-opt bench models/net.onnx out.onnx");
    expect(commandOf({ ...result, output, passes: [] }, null)).toBeNull();
    const precision = { target: "bf16", float: [], notes: [] } as const;
    expect(commandOf({ ...result, output, precision, difference: [] }, null)).toBeNull();
    expect(
      commandOf({ ...result, output, precision: { ...precision, target: "f16" }, difference: [] }, null),
    ).toContain("bench");
    expect(commandOf({ ...result, output: result.model, passes: applied }, null)).toBeNull();
  });
});
