import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import { observeChannels } from "../../../src/pipeline/calibrate/channel-statistics.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

/** Two products: of the input, and of a value made from it. */
const text = `(x: f32[N,2]) -> (y) {
  a = MatMul(x, $w: f32[2,2] = {2,0,0,-0.5})
  y = MatMul(a, $v: f32[2,3])
}`;

async function observed(samples: readonly number[], takes = () => true) {
  const folder = temporaryFolder();
  const prepared = modelFile(folder, text);
  const path = join(folder, "x.npz");
  writeFileSync(path, npz({ x: f32Npy([samples.length / 2, 2], [...samples]) }));
  const request = { prepared, model: loadModel(prepared), data: { path }, runtime: runtimeConfig(), takes };
  return observeChannels(request, realContext(runtime));
}

describe("observeChannels", () => {
  it("sees what products read, inputs of the model and values inside", async () => {
    const seen = await observed([1, -4, 3, 2]);
    expect([...seen.keys()].sort()).toEqual(["a", "x"]);
    expect([...seen.get("x")!.min]).toEqual([1, -4]);
    expect([...seen.get("x")!.max]).toEqual([3, 2]);
    expect([...seen.get("a")!.min]).toEqual([2, -1]);
    expect([...seen.get("a")!.max]).toEqual([6, 2]);
    expect(seen.get("x")!.rangeSquare).toBe((5 ** 2 + 3 ** 2) / 2);
  });

  it("asks for no input that has a default", async () => {
    const model = parseModel(text);
    model.graph.addInput("s", { dtype: "f32", shape: [2] }, { defaultTensor: Tensor.f32([2], [1, 1]) });
    const folder = temporaryFolder();
    const prepared = join(folder, "default.onnx");
    saveModel(model, prepared).commit();
    const path = join(folder, "x.npz");
    writeFileSync(path, npz({ x: f32Npy([1, 2], [1, -4]) }));
    const request = { prepared, model, data: { path }, runtime: runtimeConfig(), takes: () => true };
    expect([...(await observeChannels(request, realContext(runtime))).keys()].sort()).toEqual(["a", "x"]);
  });

  it("leaves out what is not asked for, and what held no numbers", async () => {
    expect((await observed([1, 2], () => false)).size).toBe(0);
    expect((await observed([1, Number.NaN])).size).toBe(0);
  });
});
