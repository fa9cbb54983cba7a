import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InferOptError } from "../../../src/base/errors.js";
import type { Limits } from "../../../src/pipeline/config.js";
import { type GateConfig, runGate } from "../../../src/pipeline/gate/gate.js";
import type { ModelSignature } from "../../../src/runtime/port.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const classifier: ModelSignature = {
  inputs: [{ name: "x", dtype: "f32", shape: [1, 4] }],
  outputs: [{ name: "y", dtype: "f32", shape: [1, 4] }],
};
const RELU = "(x: f32[1,4]) -> (y) { y = Relu(x) }";

async function gate(
  limits: Partial<Limits>,
  inconclusive: "fail" | "warn" = "fail",
  signature: ModelSignature = classifier,
  more: Pick<GateConfig, "history"> = {},
) {
  const folder = temporaryFolder();
  const baseline = modelFile(folder, RELU, { name: "old.onnx" });
  const candidate = modelFile(folder, RELU, { name: "new.onnx" });
  const runtime = new FakeRuntime({
    [baseline]: { signature: classifier, latency: (chance) => 4 + chance.next() },
    [candidate]: { signature, latency: (chance) => 2 + chance.next() / 2 },
  });
  const data = { calibration: null, eval: null, metric: null };
  const config = {
    baseline,
    candidate,
    data,
    limits: limitsOf(limits),
    runtime: runtimeConfig(),
    inconclusive,
    ...more,
  };
  return { result: await runGate(config, fakeContext(runtime)), runtime };
}

describe("runGate", () => {
  it("keeps its verdict where the history cannot be written", async () => {
    const path = join(temporaryFolder(), "gone", "h.jsonl");
    const failures: InferOptError[] = [];
    const onUnwritten = (failure: InferOptError) => void failures.push(failure);
    const at = "2030-01-01T00:00:00.000Z";
    const { result } = await gate({ maxSizeBytes: 1 }, "fail", classifier, { history: { path, at, onUnwritten } });
    expect(result.verdict.outcome).toBe("latency");
    expect(failures.map(({ code }) => code)).toEqual(["OUTPUT_FAILED"]);
    const unheard = gate({ maxSizeBytes: 1 }, "fail", classifier, { history: { path, at } });
    await expect(unheard).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
  });

  it("passes a candidate within its limits", async () => {
    const { result } = await gate({ minSpeedup: 1.5, maxSizeBytes: 1e6 });
    expect(result.verdict).toMatchObject({ status: "pass", outcome: "met" });
    expect(result.latency!.speedup).toBeGreaterThan(1.5);
    expect(result.stages.map(({ stage }) => stage)).toEqual(["load", "verify", "bench"]);
  });

  it("fails one that is too slow", async () => {
    expect((await gate({ minSpeedup: 3 })).result.verdict.outcome).toBe("latency");
  });

  it("fails one that is too large", async () => {
    expect((await gate({ maxSizeBytes: 10 })).result.verdict.outcome).toBe("latency");
  });

  it("measures nothing that no limit asks for", async () => {
    const { result, runtime } = await gate({ maxDrop: "none", maxSizeBytes: 1e6 });
    expect([runtime.scored.length, runtime.timed.length]).toEqual([0, 0]);
    expect(result).toMatchObject({ accuracy: null, latency: null });
  });

  it("refuses to pass for want of anything to judge", async () => {
    await expect(gate({})).rejects.toMatchObject({ code: "GATE_EMPTY", kind: "usage" });
    await expect(gate({ maxDrop: "none" })).rejects.toThrow("--max-drop none sets no limit");
  });

  it("refuses a candidate with inputs of its own", async () => {
    const other = { ...classifier, inputs: [{ ...classifier.inputs[0]!, name: "z" }] };
    await expect(gate({ minSpeedup: 1.5 }, "fail", other)).rejects.toMatchObject({
      code: "MODELS_DIFFER",
      fields: { input: "z", inputs: ["x"] },
    });
  });

  it("refuses a candidate without an output of the baseline, whatever is judged", async () => {
    const other = { ...classifier, outputs: [{ ...classifier.outputs[0]!, name: "z" }] };
    const fault = { code: "MODELS_DIFFER", fields: { missing: ["y"], outputs: ["y"] } };
    await expect(gate({ maxDrop: "none", maxSizeBytes: 1e6 }, "fail", other)).rejects.toMatchObject(fault);
    // One output more is nobody's loss.
    const more = { ...classifier, outputs: [...classifier.outputs, ...other.outputs] };
    expect((await gate({ maxDrop: "none", maxSizeBytes: 1e6 }, "fail", more)).result.verdict.outcome).toBe("met");
  });

  it("cannot judge accuracy on made-up inputs", async () => {
    expect((await gate({ maxDrop: { percent: 1 } })).result.verdict.outcome).toBe("inconclusive");
    expect((await gate({ maxDrop: { percent: 1 } }, "warn")).result.verdict).toMatchObject({
      outcome: "met",
      status: "inconclusive",
    });
  });
});
