import { copyFileSync, linkSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linkModel, loadModel, type Model, parseModel, saveModel, Tensor } from "../../src/ir/index.js";
import { linkedSuffix, linkModelFile } from "../../src/onnx/index.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const VALUES = 1 << 15;

/** A model whose weights are large enough to stay in the file. */
function save(path: string, value: number, external = false): void {
  const model = parseModel("(x: f32[1]) -> (y) { y = Add(x, $w: f32[1]) }");
  const { graph } = model;
  const [node] = graph.nodes();
  const tensor = Tensor.f32([VALUES], new Float32Array(VALUES).fill(value));
  graph.setInput(node!, 1, graph.addConstant("weights", tensor));
  saveModel(model, path, { externalData: external }).commit();
}

const weightsOf = (model: Model): Float32Array =>
  model.graph.constants.find(({ constant }) => constant!.elementCount === VALUES)!.constant!.f32();

describe("a model file that changes after it was read", () => {
  const changed = expect.objectContaining({ code: "MODEL_CHANGED", kind: "input" });

  it.each([
    ["replaced", (path: string, other: string) => renameSync(other, path)],
    ["written over", (path: string, other: string) => copyFileSync(other, path)],
    ["cut", (path: string) => writeFileSync(path, "")],
  ])("gives no weights of another model: %s", (_, change) => {
    const folder = temporaryFolder();
    const [path, other] = [join(folder, "m.onnx"), join(folder, "other.onnx")];
    save(path, 1);
    save(other, 2);
    // Of a moment ago: file systems tell times apart by milliseconds.
    utimesSync(path, 1, 1);
    const model = loadModel(path);
    change(path, other);
    expect(() => weightsOf(model)).toThrow(changed);
    expect(() => saveModel(model, join(folder, "out.onnx"))).toThrow(changed);
  });

  it("goes for data files beside it too", () => {
    const folder = temporaryFolder();
    const path = join(folder, "m.onnx");
    save(path, 1, true);
    const [data] = readdirSync(folder).filter((name) => name.endsWith(".data"));
    utimesSync(join(folder, data!), 1, 1);
    const model = loadModel(path);
    writeFileSync(join(folder, data!), new Uint8Array(4 * VALUES));
    expect(() => weightsOf(model)).toThrow(changed);
  });

  it("goes for what a linked model points at, which is read again and again", () => {
    const folder = temporaryFolder();
    const [path, other] = [join(folder, "m.onnx"), join(folder, "other.onnx")];
    save(path, 1);
    save(other, 2);
    const [first, second] = ["a", "b"].map((name) => join(folder, `${name}${linkedSuffix()}`)) as [string, string];
    linkModelFile(path, first);
    linkModel(loadModel(first), second);
    expect(weightsOf(loadModel(second))[0]).toBe(1);
    renameSync(other, path);
    for (const linked of [first, second]) expect(() => weightsOf(loadModel(linked))).toThrow(changed);
    // And another one may be made of what lies there now.
    linkModelFile(path, first);
    expect(weightsOf(loadModel(first))[0]).toBe(2);
  });

  it("may be looked at, and get another name", () => {
    const folder = temporaryFolder();
    const path = join(folder, "m.onnx");
    save(path, 3);
    const model = loadModel(path);
    linkSync(path, join(folder, "also.onnx"));
    readFileSync(path);
    expect(weightsOf(model)[0]).toBe(3);
  });
});
