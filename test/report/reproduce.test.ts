import { describe, expect, it } from "vitest";
import { excludeList, flagValues, reproduce, withFlag } from "../../src/report/reproduce.js";
import { sampleResult } from "./sample-result.js";

const typed =
  "infer-opt optimize 'my net.onnx' -o out/net.int8.onnx --exclude 'op:Mat*' --exclude=/a --slo p95=2ms --report r.json";

describe("flags of a command line", () => {
  it("are found in both spellings, without their quotes", () => {
    expect(flagValues(typed, "--exclude")).toEqual(["op:Mat*", "/a"]);
    expect(flagValues("infer-opt x --exclude 'it'\\''s'", "--exclude")).toEqual(["it's"]);
    expect(flagValues(typed, "--include")).toEqual([]);
  });

  it("are replaced and taken out, the rest as it was", () => {
    expect(withFlag(typed, "--exclude", null)).toBe(
      "infer-opt optimize 'my net.onnx' -o out/net.int8.onnx --slo p95=2ms --report r.json",
    );
    expect(withFlag("infer-opt x m.onnx -o a.onnx", "-o", "b c.onnx")).toBe("infer-opt x m.onnx -o 'b c.onnx'");
  });
});

describe("a candidate", () => {
  const sample = sampleResult();
  const named = (name: string) => ({ ...sample.candidates[1]!, name });

  it("that was taken is made by the command as typed", () => {
    expect(reproduce(sample, sample.candidates[0]!, typed)).toEqual({ command: typed, note: null });
  });

  it("that was not is asked for by what sets it apart, beside what was taken and without limits", () => {
    const { command, note } = reproduce(sample, named("int8 static mse +neighbours"), typed);
    expect(command).toContain("--mode static --method mse --max-drop none -o out/net.int8.other.onnx");
    expect(command).not.toMatch(/--slo|--report/);
    // Others are not tried again, and it is written though it is no gain.
    expect(command).toMatch(/^infer-opt quantize 'my net\.onnx' .* --keep-rejected$/);
    expect(note).toContain("out/net.int8.other.rejected.onnx");
    expect(reproduce(sample, named("int8 static mse/percentile"), typed).command).not.toContain("--method");
    expect(reproduce(sample, named("int4 weights"), typed).command).toContain("--mode weights --bits 4");
  });

  it("takes the flags along that mean something to the command that makes it", () => {
    const line =
      "infer-opt optimize a.onnx --in-place --lossy --skip 'x,y' --shape i=1,3 --keep-opset --threads 2 --json";
    const commandOf = (name: string): string => reproduce(sample, named(name), line).command;
    const to = `${sample.model.path} -o ${sample.output!.path.replace(".onnx", ".other.onnx")}`;
    expect(commandOf("float32 fused")).toBe(`infer-opt fuse ${to} --skip x,y --shape i=1,3 --keep-opset --lossy`);
    expect(commandOf("float16")).toBe(`infer-opt fp16 ${to} --skip x,y --shape i=1,3 --keep-opset`);
    expect(commandOf("int8 dynamic")).toBe(
      "infer-opt quantize a.onnx --skip 'x,y' --shape i=1,3 --keep-opset --threads 2 --mode dynamic --max-drop none " +
        `-o ${sample.output!.path.replace(".onnx", ".other.onnx")} --keep-rejected`,
    );
  });

  it("of a net of known widths is made without the search", () => {
    const line =
      "infer-opt prune a.onnx -o b.onnx --calibration c.npz --target-speedup 2 --max-drop 1% --report r.json";
    const measured = { bytes: 1, accuracy: 1, speedup: 1, speedupInterval: [1, 1] } as const;
    const net = { name: "about 1.5x", widths: [16, 0, 32], ...measured };
    const pruning = { groups: [], fitted: [], unfitted: [], pareto: [net] };
    const tried = { ...sampleResult().candidates[1]!, name: "about 1.5x" };
    const result = sampleResult({ command: "prune", pruning, candidates: [tried] });
    expect(reproduce(result, tried, line)).toEqual({
      command:
        "infer-opt prune a.onnx --calibration c.npz --widths 16,0,32 --max-drop none -o out/net.int8.other.onnx --keep-rejected",
      note: "written as out/net.int8.other.rejected.onnx where it is no gain",
    });
    // Of one that others exceed, widths are not kept.
    expect(reproduce(result, { ...tried, name: "about 3x" }, line).command).toBe(line);
  });

  it("of a net that was pruned first is found by the whole search only", () => {
    const line = "infer-opt optimize a.onnx -o b.onnx --prune --calibration c.npz";
    expect(reproduce(sample, named("int8 static mse"), line)).toMatchObject({ command: line });
  });

  it("says what is missing where the result does not know its command", () => {
    expect(reproduce(sample, sample.candidates[0]!, null).note).toContain("add them");
  });
});

it("adds to the list what a config file would otherwise have replaced", () => {
  const { text, command } = excludeList(sampleResult(), ["/b", "/a"], "r.exclude.json", `${typed} --config my.json`);
  expect(JSON.parse(text)).toEqual({ exclude: ["op:Mat*", "/a", "/b"] });
  // One command reads one config file: flags say it beside the one that is there.
  expect(command).toContain("--config my.json --exclude 'op:Mat*' --exclude /a --exclude /b");
});
