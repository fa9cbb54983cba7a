import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseModel, saveModel } from "../../../src/ir/index.js";
import { type ProfileConfig, runProfile } from "../../../src/pipeline/profile/run-profile.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext, profileOf } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const file = (text: string): string => modelFile(temporaryFolder(), text);
const configOf = (models: readonly string[], parts: Partial<ProfileConfig> = {}): ProfileConfig => ({
  ...{ models, data: null, runtime: runtimeConfig({ benchMs: 50 }), required: [] },
  ...parts,
});

describe("runProfile", () => {
  it("tells where one model's time goes, by what bounds it", async () => {
    const runtime = ortRuntime({ workers: 1 });
    try {
      const model = file(
        "(x: f32[4,64]) -> (y) { h = MatMul(x, $w: f32[64,32]) r = Relu(h) y = MatMul(r, $v: f32[32,8]) }",
      );
      const { profile, verdict, latency } = await runProfile(configOf([model]), realContext(runtime));
      const [found] = profile!.models;
      expect(found!.operators.map(({ op }) => op)).toContain("MatMul");
      expect(found!.flops).toBe(2 * 4 * 64 * 32 + 4 * 32 + 2 * 4 * 32 * 8);
      expect(found!.nodesMs).toBeCloseTo(
        found!.nodes.reduce((sum, { ms }) => sum + ms, 0),
        10,
      );
      expect(Object.values(found!.bound!).reduce((a, b) => a + b)).toBeCloseTo(found!.nodesMs, 10);
      expect(found!.memory.activations).toMatchObject({ totalBytes: 4 * (4 * 32 + 4 * 32 + 4 * 8) });
      expect(found!.timeline.length).toBeGreaterThanOrEqual(found!.nodes.length);
      expect(profile!.machine!.flopsPerSecond).toBeGreaterThan(1e8);
      expect(profile!.machine!.bytesPerSecond).toBeGreaterThan(1e7);
      expect(profile!.compared).toBeNull();
      expect(latency).toBeNull();
      expect(verdict.summary).toMatch(/^median .* ms; \d+ % of the nodes' time is /);
    } finally {
      await runtime.close();
    }
  });

  it("times whole requests too where there is a pipeline, of one model", async () => {
    const path = file("(x: f32[1,4]) -> (y) { y = Relu(x) }");
    const stages = { before: { preprocessing: () => 6 }, inference: () => 3 };
    const fake = new FakeRuntime({
      [path]: { latency: () => 3, stages, profile: profileOf([["y", "Relu", 3]], { provider: "cuda" }) },
    });
    const run = (models: readonly string[]) =>
      runProfile(
        configOf(models, { pipeline: "/steps.mjs", runtime: runtimeConfig({ benchMs: 6000, provider: "cuda" }) }),
        fakeContext(fake),
      );
    const { profile, request } = await run([path]);
    expect(profile!.models).toHaveLength(1);
    expect(request!.stages.map(({ name }) => name)).toEqual(["preprocessing", "transfer", "inference"]);
    expect((await faultOf(() => run([path, path]))).code).toBe("PIPELINE_MODELS");
  });

  it("reads the graph of a model whose weights lie beside it", async () => {
    const runtime = ortRuntime({ workers: 1 });
    try {
      const path = join(temporaryFolder(), "beside.onnx");
      const model = parseModel("(x: f32[4,64]) -> (y) { m = MatMul(x, $w: f32[64,96]) y = Relu(m) }", { opset: 18 });
      saveModel(model, path, { externalData: true }).commit();
      expect(readdirSync(dirname(path))).toHaveLength(2);
      const { profile } = await runProfile(configOf([path]), realContext(runtime));
      expect(profile!.models[0]!.nodes.map(({ op }) => op)).toContain("MatMul");
    } finally {
      await runtime.close();
    }
  });

  it("puts two models side by side", async () => {
    const runtime = ortRuntime({ workers: 1 });
    try {
      const before = file("(x: f32[4,64]) -> (y) { s = Sigmoid(x) m = Mul(x, s) y = MatMul(m, $w: f32[64,8]) }");
      const after = file("(x: f32[4,64]) -> (y) { m = Relu(x) y = MatMul(m, $w: f32[64,8]) }");
      const { profile, latency, candidateModel, verdict } = await runProfile(
        configOf([before, after]),
        realContext(runtime),
      );
      expect(candidateModel!.path).toBe(after);
      expect(latency!.speedup).toBeGreaterThan(0);
      expect(verdict.summary).toMatch(/^median .* ms before, .* ms after; \d+ % of the nodes' time after is /);
      const compared = profile!.compared!;
      for (const [i, side] of (["beforeMs", "afterMs"] as const).entries()) {
        expect(compared.reduce((sum, part) => sum + part[side], 0)).toBeCloseTo(profile!.models[i]!.nodesMs, 10);
      }
      expect(compared.map(({ value }) => value).sort()).toEqual(["m", "y"]);
    } finally {
      await runtime.close();
    }
  });

  it("does not measure the machine where the model runs elsewhere, and reads no graph there", async () => {
    const path = file("(x: f32[1,4]) -> (y) { y = Relu(x) }");
    const runtime = new FakeRuntime({
      [path]: { latency: () => 4, profile: profileOf([["y", "Relu", 3]], { provider: "cuda" }) },
    });
    const config = configOf([path], { runtime: runtimeConfig({ provider: "cuda" }) });
    const { profile, verdict } = await runProfile(config, fakeContext(runtime));
    expect(profile).toMatchObject({ provider: "cuda", machine: null });
    expect(profile!.models[0]).toMatchObject({ bound: null, memory: { activations: null } });
    expect(profile!.models[0]!.nodes[0]).toMatchObject({ flops: null, bound: null, ms: 3 });
    expect(verdict.summary).toBe("median 4 ms");
  });

  it("refuses a model of which too little ran where it had to, before anything is timed", async () => {
    const path = file("(x: f32[1,4]) -> (y) { y = Relu(x) }");
    const profile = profileOf(
      [
        ["a", "Conv", 3],
        ["b", "Gather", 1],
      ],
      { provider: "cuda" },
    );
    const steps = profile.steps.map((step, i) => (i === 1 ? { ...step, provider: "cpu" } : step));
    const runtime = new FakeRuntime({ [path]: { profile: { ...profile, steps } } });
    const config = (share: number) =>
      configOf([path], { runtime: runtimeConfig({ provider: "cuda" }), required: [{ provider: "cuda", share }] });
    const fault = await faultOf(() => runProfile(config(0.95), fakeContext(runtime)));
    expect(fault).toMatchObject({ code: "PROVIDER_SHARE", kind: "runtime" });
    expect(fault.message).toContain("1 of 2 nodes");
    expect(fault.message).toContain("Gather on cpu");
    expect(runtime.timed).toEqual([]);
    // With half of them it goes on, to the timing that this fake cannot do.
    await expect(runProfile(config(0.5), fakeContext(runtime))).rejects.toThrow("says how long it takes");
  });

  it.each([[[]], [["a", "b", "c"]]])("needs one model or two: %j", async (models) =>
    expect((await faultOf(() => runProfile(configOf(models), fakeContext(new FakeRuntime({}))))).code).toBe(
      "PROFILE_MODELS",
    ),
  );
});
