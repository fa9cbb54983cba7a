import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { runFp16 } from "../../src/pipeline/fp16/fp16.js";
import { blamed } from "../../src/pipeline/original-too.js";
import { runOptimize, runQuantize } from "../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import { modelFile } from "../support/model-file.js";
import { f32Npy, npz } from "../support/npz.js";
import { fuseConfig, optimizeConfig, realContext } from "../support/real-run.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

/** It takes any sizes by its signature, and runs with 16 elements only. */
const text = `(x: f32[b,s]) -> (y) {
  i = Identity(x)
  r = Reshape(i, $s: i64[2] = {1,16})
  h = MatMul(r, $w: f32[16,64])
  k = Relu(h)
  y = MatMul(k, $v: f32[64,4])
}`;

for (const [name, run] of Object.entries({ quantize: runQuantize, optimize: runOptimize })) {
  it(`${name} says that the model does not run on made-up inputs, and not that nothing can be quantized`, async () => {
    const folder = temporaryFolder();
    const model = modelFile(folder, text);
    const config = optimizeConfig(model, join(folder, "out.onnx"), { mode: "auto" });
    const fault = await run(config, realContext(runtime)).catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(InferOptError);
    expect(fault).toMatchObject({ code: "RUN_FAILED", kind: "runtime", fields: { model } });
    expect((fault as InferOptError).hint).toContain("--shape");
  });
}

const samples = (folder: string, width: number): string => {
  const path = join(folder, "samples.npz");
  const values = Array.from({ length: 10 * width }, (_, i) => Math.sin(i));
  writeFileSync(path, npz({ x: f32Npy([10, width], values) }));
  return path;
};

it("blames the model where what was made of it fails on a sample that it fails on itself", async () => {
  const folder = temporaryFolder();
  const model = modelFile(folder, text);
  const data = { calibration: samples(folder, 8), eval: null, metric: null };
  const out = { output: join(folder, "out.onnx"), externalData: false, keepRejected: false };
  const runs = [
    runQuantize(optimizeConfig(model, out.output, { mode: "auto", goal: "speed" }, { data }), realContext(runtime)),
    runFp16(
      {
        ...fuseConfig(model, out.output, { data }),
        target: "f16",
        convertIo: false,
        selection: { include: [], exclude: [] },
      },
      realContext(runtime),
    ),
  ];
  for (const run of await Promise.allSettled(runs)) {
    const { reason } = run as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: "RUN_FAILED", fields: { model } });
  }
});

it("leaves the blame where it is where the model itself runs", async () => {
  const folder = temporaryFolder();
  const model = modelFile(folder, text);
  const thrown = new InferOptError("RUN_FAILED", "runtime", "odd", {
    fields: { model: "made", sample: "samples.npz[3]" },
  });
  const ref = { path: samples(folder, 16) };
  const evaluation = { ref, count: 10, source: "eval", hasLabels: false } as const;
  const intake = { trial: ref, fit: null, evaluation };
  const told = await blamed(thrown, model, intake, runtimeConfig(), realContext(runtime));
  expect(told).toBe(thrown);
});
