import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadModel } from "../../src/ir/index.js";
import { externalFiles, factsReader, modelDigest, modelFacts } from "../../src/pipeline/model-facts.js";
import { modelFile } from "../support/model-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const text = "(x: f32[64]) -> (y) { h = Relu(x)\n y = Mul(h, $w: f32[4096,64]) }";

describe("modelFacts", () => {
  it("tells the digest, size and nodes of a file", async () => {
    const path = modelFile(temporaryFolder(), text);
    expect(await modelFacts(path)).toEqual({
      path,
      sha256: createHash("sha256").update(readFileSync(path)).digest("hex"),
      bytes: statSync(path).size,
      nodes: 2,
    });
  });

  it("counts weights that lie beside the model, each file once", async () => {
    const path = modelFile(temporaryFolder(), text, { externalData: true });
    const [file] = externalFiles(loadModel(path));
    expect((await modelFacts(path)).bytes).toBe(statSync(path).size + statSync(file!).size);
    expect(statSync(file!).size).toBeGreaterThanOrEqual(4096 * 64 * 4);
  });

  it("knows a model whose weights lie beside it by these too, where they are read", async () => {
    const path = modelFile(temporaryFolder(), text, { externalData: true });
    const read = () => factsReader(path, loadModel(path), true)();
    const before = await read();
    const [file] = externalFiles(loadModel(path));
    const changed = readFileSync(file!);
    changed[5]! ^= 1;
    writeFileSync(file!, changed);
    const after = await read();
    expect(after.sha256).toBe(before.sha256);
    expect(modelDigest(after)).not.toBe(modelDigest(before));
    expect(await modelFacts(path)).not.toHaveProperty("dataSha256");
    const alone = await factsReader(
      "fixtures/models/if_bodies.onnx",
      loadModel("fixtures/models/if_bodies.onnx"),
      true,
    )();
    expect(modelDigest(alone)).toBe(alone.sha256);
  });

  it("counts nodes in bodies", async () => {
    expect((await modelFacts("fixtures/models/if_bodies.onnx")).nodes).toBeGreaterThan(
      loadModel("fixtures/models/if_bodies.onnx").graph.nodeCount,
    );
  });
});
