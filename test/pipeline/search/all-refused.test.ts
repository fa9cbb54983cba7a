import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { runOptimize } from "../../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { modelFile } from "../../support/model-file.js";
import { optimizeConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

it("optimize says so where the runtime refuses the rewritten model and every other candidate", async () => {
  const folder = temporaryFolder();
  const output = join(folder, "out.onnx");
  const model = modelFile(folder, "(x: f32[4,64]) -> (y) { a = Identity(x) y = MatMul(a, $w: f32[64,64]) }");
  const refusing: Runtime = {
    ...runtime,
    score: async () => Promise.reject(new InferOptError("MODEL_REJECTED", "input", "it is too odd")),
  };
  const result = await runOptimize(optimizeConfig(model, output, { mode: "dynamic" }), realContext(refusing));
  expect(result.verdict).toMatchObject({
    outcome: "no-gain",
    summary: expect.stringContaining("the runtime refuses the rewritten model"),
  });
  expect(result.warnings).toContain("float32 fused was left out: the runtime refuses it: it is too odd");
  expect(existsSync(output)).toBe(false);
});
