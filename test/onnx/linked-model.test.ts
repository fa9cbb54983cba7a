import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { linkModel, loadModel, parseModel, printGraph, Tensor } from "../../src/ir/index.js";
import { isLinked, linkedSuffix, linkModelFile } from "../../src/onnx/index.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import { modelFile } from "../support/model-file.js";
import { codeOf, temporaryFolder } from "./build.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

const text = `(x: f32[1,600]) -> (y) {
  a = MatMul(x, $w: f32[600,4])
  y = Add(a, $b: f32[4] = {1.0, 2.0, 3.0, 4.0})
}`;
const linkedPath = (folder: string): string => join(folder, `m${linkedSuffix()}`);
const session = { provider: "cpu", threads: 1, optimization: "disabled" } as const;
const feeds = new Map([["x", Tensor.f32([1, 600], new Array(600).fill(0.5))]]);
const valuesOf = async (path: string): Promise<number[]> => [
  ...(await runtime.run(path, feeds, session)).get("y")!.f32(),
];

describe("linked models", () => {
  it("carry no large weights and compute the same", async () => {
    const folder = temporaryFolder();
    const original = modelFile(folder, text);
    const linked = linkedPath(folder);
    linkModelFile(original, linked);
    expect(statSync(linked).size).toBeLessThan(1000);
    expect(await valuesOf(linked)).toEqual(await valuesOf(original));
  });

  it("put weights that no file holds beside themselves", async () => {
    const folder = temporaryFolder();
    const linked = linkedPath(folder);
    const model = parseModel(text);
    linkModel(model, linked);
    expect(statSync(`${linked}.data`).size).toBe(600 * 4 * 4);
    expect(await valuesOf(linked)).toEqual(await valuesOf(modelFile(folder, text)));
  });

  it("are read back as the model that they stand for", () => {
    const folder = temporaryFolder();
    const original = modelFile(folder, text);
    const linked = linkedPath(folder);
    linkModelFile(original, linked);
    expect(printGraph(loadModel(linked).graph)).toBe(printGraph(loadModel(original).graph));
  });

  it("leave the model that they are written from as it was", () => {
    const folder = temporaryFolder();
    const model = loadModel(modelFile(folder, text));
    linkModel(model, linkedPath(folder));
    const weight = model.graph.constants.find(({ label }) => label === "w")!;
    expect(weight.constant!.bytes()).toHaveLength(600 * 4 * 4);
  });

  it("are not taken for such by their name alone: places outside of the folder are refused", () => {
    const folder = temporaryFolder();
    const linked = linkedPath(folder);
    linkModelFile(modelFile(folder, text), linked);
    const impostor = join(folder, "m.0123456789abcdef.linked.onnx");
    writeFileSync(impostor, readFileSync(linked));
    expect(isLinked(impostor)).toBe(false);
    expect(codeOf(() => loadModel(impostor))).toBe("EXTERNAL_DATA_MISSING");
  });
});
