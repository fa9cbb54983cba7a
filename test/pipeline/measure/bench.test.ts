import { describe, expect, it } from "vitest";
import { runBench } from "../../../src/pipeline/measure/bench.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext, placementOf } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function bench(latencies: readonly number[], batch = 1) {
  const folder = temporaryFolder();
  const models = latencies.map((_, i) =>
    modelFile(folder, "(x: f32[1,4]) -> (y) { y = Relu(x) }", { name: `${i}.onnx` }),
  );
  const fakes = Object.fromEntries(models.map((path, i) => [path, { latency: () => latencies[i]! }]));
  const config = { models, data: null, runtime: runtimeConfig({ batch }) };
  return runBench(config, fakeContext(new FakeRuntime(fakes)));
}

describe("runBench", () => {
  it("times one model alone", async () => {
    const { bench: facts, latency, verdict } = await bench([4]);
    expect(facts!.models).toHaveLength(1);
    expect(facts!.models[0]).toMatchObject({
      p50Ms: 4,
      p95Ms: 4,
      speedup: null,
      throughputPerSecond: 250,
      bounds: { p50: { low: 4, high: 4 } },
    });
    expect(latency).toBeNull();
    expect(verdict).toMatchObject({ outcome: "met", reasons: [] });
    expect(verdict.summary).toContain("median 4 ms over");
  });

  it("tells the start and the memory of each model", async () => {
    const [row] = (await bench([4])).bench!.models;
    expect(row!.coldStart).toEqual({
      ...{ processMs: 15, runtimeMs: 10, sessionMs: 12, firstRunMs: 5, totalMs: 42, steadyMs: 4 },
    });
    expect(row!.memory).toEqual({ runtimeBytes: 6e5, sessionBytes: 8e5, peakBytes: 1e6 });
  });

  it("counts the samples of a batch", async () => {
    expect((await bench([4], 8)).bench!.models[0]!.throughputPerSecond).toBe(2000);
  });

  it("compares several with the first", async () => {
    const { bench: facts, latency } = await bench([4, 2, 8]);
    expect(facts!.models.map(({ speedup }) => speedup)).toEqual([null, 2, 0.5]);
    expect(latency!.speedup).toBe(2);
  });

  it("names the inputs of models that cannot be fed the same", async () => {
    const folder = temporaryFolder();
    const graphs = ["(x: f32[1,4]) -> (y) { y = Relu(x) }", "(ids: i64[1,4], x: f32[1,4]) -> (y) { y = Relu(x) }"];
    const models = graphs.map((graph, i) => modelFile(folder, graph, { name: `${i}.onnx` }));
    const run = (paths: readonly string[]) =>
      runBench({ models: paths, data: null, runtime: runtimeConfig() }, fakeContext(new FakeRuntime({})));
    const fault = await faultOf(() => run(models));
    expect(fault).toMatchObject({ code: "MODELS_DIFFER", fields: { candidate: models[1], inputs: ["ids", "x"] } });
    expect(fault.message).toContain(`1.onnx takes "ids", "x", and ${models[0]} takes "x"`);
    expect(fault.hint).toContain(`infer-opt bench ${models[1]}`);
  });

  it("proves where each model runs on an accelerator", async () => {
    const path = modelFile(temporaryFolder(), "(x: f32[1,4]) -> (y) { y = Relu(x) }");
    const config = { models: [path], data: null, runtime: runtimeConfig({ provider: "cuda" }) };
    const run = (provider: string) => {
      const placement = placementOf([["Relu", provider, 1, 2]]);
      return runBench(config, fakeContext(new FakeRuntime({ [path]: { latency: () => 4, placement } })));
    };
    expect((await run("cuda")).bench!.models[0]!.placement).toMatchObject({ provider: "cuda", nodes: 1 });
    expect((await faultOf(() => run("cpu"))).code).toBe("PROVIDER_NOT_USED");
  });

  it("needs a model", async () => expect((await faultOf(() => bench([]))).code).toBe("BENCH_NO_MODEL"));
});
