import { describe, expect, it } from "vitest";
import { runExplain } from "../../src/pipeline/explain.js";
import { faultOf } from "../support/dataset.js";
import { modelFile } from "../support/model-file.js";
import { graphConfig } from "../support/real-run.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const explain = (path: string, nodes: string | null = null) =>
  runExplain({ path, nodes, runtime: runtimeConfig(), graph: graphConfig() }, null);

const saved = {
  schemaVersion: 1,
  command: "quantize",
  passes: [
    {
      name: "fuse-conv-batch-norm",
      applied: 2,
      skipped: [{ node: "/bn3", reason: "another node reads the Conv" }],
      durationMs: 1,
    },
  ],
  quantization: {
    mode: "static",
    why: "it was fastest",
    float: [{ node: "/head/MatMul", op: "MatMul", reason: "costs too much accuracy" }],
  },
  precision: null,
};
const file = (content: unknown) =>
  `${temporaryFolder({ "r.json": typeof content === "string" ? content : JSON.stringify(content) })}/r.json`;

describe("runExplain on a result", () => {
  it("tells what passes declined and what stayed float", async () => {
    const explanation = await explain(file(saved));
    expect(explanation).toMatchObject({ source: "result", passes: saved.passes, float: saved.quantization.float });
    expect(explanation.notes).toContain("quantized static: it was fastest");
  });

  it("keeps to the nodes asked for", async () => {
    const { passes, float } = await explain(file(saved), "/head/*");
    expect([passes, float]).toEqual([[], saved.quantization.float]);
  });

  it("names the nearest node when it knows nothing of the one asked for", async () => {
    const fault = await faultOf(() => explain(file(saved), "/bn4"));
    expect(fault.code).toBe("SELECTOR_EMPTY");
    expect(fault.hint).toContain("/bn3");
  });

  it.each([
    ["RESULT_INVALID", "{ no json"],
    ["RESULT_INVALID", { schemaVersion: 1, command: "fold", passes: [{}], quantization: null }],
    ["RESULT_INVALID", { some: "json" }],
    ["RESULT_VERSION", { ...saved, schemaVersion: 2 }],
  ])("throws %s for what it cannot read: %j", async (code, content) => {
    expect((await faultOf(() => explain(file(content)))).code).toBe(code);
  });

  it("throws EXPLAIN_MISSING for a file that is not there", async () => {
    expect((await faultOf(() => explain("/nowhere/r.json"))).code).toBe("EXPLAIN_MISSING");
  });

  it("throws MODEL_UNREADABLE for a folder", async () => {
    expect((await faultOf(() => explain(temporaryFolder()))).code).toBe("MODEL_UNREADABLE");
  });
});

describe("runExplain on a model", () => {
  const text = `(x: f32[1,3,8,8]) -> (y, z) {
    c = Conv(x, $w: f32[4,3,1,1])
    y = BatchNormalization(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4])
    f = Identity(c)
    r = Flatten(f)
    s = Transpose<perm=[1,0]>(r)
    z = MatMul(r, s)
  }`;

  it("runs the passes and lists what they declined and what would stay float", async () => {
    const path = modelFile(temporaryFolder(), text);
    const { source, passes, float } = await explain(path);
    expect(source).toBe("model");
    const norm = passes.find(({ name }) => name === "fuse-conv-batch-norm")!;
    expect(norm.applied).toBe(0);
    expect(passes.find(({ name }) => name === "eliminate-identity")!.applied).toBe(1);
    expect(float).toContainEqual(expect.objectContaining({ op: "MatMul", reason: "both factors are activations" }));
  });
});
