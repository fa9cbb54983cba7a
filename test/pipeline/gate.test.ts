import { describe, expect, it } from "vitest";
import type { Limits } from "../../src/pipeline/config.js";
import { runGate } from "../../src/pipeline/gate.js";
import { FakeRuntime, fakeContext } from "../support/fake-runtime.js";
import { modelFile } from "../support/model-file.js";
import { limitsOf, runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function gate(limits: Partial<Limits>, inconclusive: "fail" | "warn" = "fail") {
  const folder = temporaryFolder();
  const text = "(x: f32[1,4]) -> (y) { y = Relu(x) }";
  const baseline = modelFile(folder, text, { name: "old.onnx" });
  const candidate = modelFile(folder, text, { name: "new.onnx" });
  const runtime = new FakeRuntime({
    [baseline]: { latency: (chance) => 4 + chance.next() },
    [candidate]: { latency: (chance) => 2 + chance.next() / 2 },
  });
  const data = { calibration: null, eval: null, metric: null };
  const config = { baseline, candidate, data, limits: limitsOf(limits), runtime: runtimeConfig(), inconclusive };
  return { result: await runGate(config, fakeContext(runtime)), runtime };
}

describe("runGate", () => {
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

  it("cannot judge accuracy on made-up inputs", async () => {
    expect((await gate({ maxDrop: { percent: 1 } })).result.verdict.outcome).toBe("inconclusive");
    expect((await gate({ maxDrop: { percent: 1 } }, "warn")).result.verdict).toMatchObject({
      outcome: "met",
      status: "inconclusive",
    });
  });
});
