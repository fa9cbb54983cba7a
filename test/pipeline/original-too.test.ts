import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { runOptimize, runQuantize } from "../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import { modelFile } from "../support/model-file.js";
import { optimizeConfig, realContext } from "../support/real-run.js";
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
