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
    // The model by itself tells nothing about integers.
    expect(commandOf(sampleResult(), null)).toBeNull();
  });

  it("measures on all samples what no limit asked for, and holds the limits that were asked for in CI", () => {
    const line = "infer-opt quantize models/net.onnx -o x.onnx --eval 'my test.npz' --metric top1 --threads 2";
    const gain = { ...verdict("met", "gain"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult(), verdict: gain }, line)).toBe(
      "infer-opt verify models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1",
    );
    const drop = { ...verdict("met", "max-drop"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult(), verdict: drop }, `${line} --max-drop=1% --slo p95=9ms --slo p99=20ms`)).toBe(
      "infer-opt gate models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1 --max-drop 1% --slo p95=9ms --slo p99=20ms --threads 2",
    );
    for (const lacking of [null, "infer-opt quantize models/net.onnx -o x.onnx --max-drop 1%"]) {
      expect(commandOf({ ...sampleResult(), verdict: drop }, lacking)).toBeNull();
    }
  });

  it("holds limits against what they were held against: the model that the given one was made of", () => {
    const baseline = { path: "models/dense.onnx", sha256: "cc", bytes: 8_000_000, nodes: 181 };
    const line = "infer-opt quantize models/net.onnx -o x.onnx --baseline models/dense.onnx --eval d.npz --max-drop 1%";
    const drop = { ...verdict("met", "max-drop"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult({ baseline }), verdict: drop }, line)).toBe(
      "infer-opt gate models/dense.onnx out/net.int8.onnx --eval d.npz --max-drop 1%",
    );
  });

  it("times what was compared, and compares what was timed", () => {
    const { model, ...facts } = sampleResult();
    const [candidateModel, other] = ["b c.onnx", "d.onnx"].map((path) => ({ ...model, path })) as [
      typeof model,
      typeof model,
    ];
    const bare = { ...facts, model, output: null, quantization: null, candidateModel };
    const line = "infer-opt verify models/net.onnx 'b c.onnx' --threads 1 --json";
    expect(commandOf({ ...bare, command: "verify" }, line)).toBe(
      "infer-opt bench models/net.onnx 'b c.onnx' --threads 1",
    );
    const timed = (...models: readonly (typeof model)[]) =>
      ({
        ...bare,
        command: "bench",
        bench: { models: models.map((each) => ({ model: each })) },
      }) as unknown as RunResult;
    expect(commandOf(timed(model, candidateModel), "infer-opt bench a b --eval e.npz")).toBe(
      "infer-opt verify models/net.onnx 'b c.onnx' --eval e.npz",
    );
    for (const models of [[model], [model, model], [model, candidateModel, other]]) {
      expect(commandOf(timed(...models), null)).toBeNull();
    }
    expect(commandOf({ ...bare, command: "profile" }, null)).toBe("infer-opt inspect models/net.onnx");
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
