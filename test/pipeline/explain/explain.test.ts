import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseModel, saveModel } from "../../../src/ir/index.js";
import { runExplain } from "../../../src/pipeline/explain/explain.js";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { graphConfig } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const explain = (path: string, nodes: string | null = null) =>
  runExplain({ path, nodes, runtime: runtimeConfig() }, null);

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

  it("takes regions as the result has them, and those that hold a node asked for", async () => {
    const regions = [
      { region: "/a", nodes: ["/a", "/add"], form: "static", sqnrDb: 31.5, beforeMs: 2, afterMs: 1, reason: "" },
      { region: "/b", nodes: ["/b"], form: "float", sqnrDb: null, beforeMs: 1, afterMs: 3, reason: "does not pay" },
    ];
    const path = file({ ...saved, quantization: { ...saved.quantization, regions } });
    expect((await explain(path)).regions).toEqual(regions);
    expect((await explain(path, "/add")).regions).toEqual([regions[0]]);
    expect(await explain(path, "/head/*")).not.toHaveProperty("regions");
    expect(await explain(file(saved))).not.toHaveProperty("regions");
  });

  it("takes what a result says of nodes that stayed unfused", async () => {
    const unfused = [{ node: "/erf", op: "Erf", pass: "fuse-gelu", reason: "other nodes read the Erf too" }];
    expect((await explain(file({ ...saved, unfused }))).unfused).toEqual(unfused);
  });

  it("makes do with what passes declined where a result says no more", async () => {
    expect((await explain(file(saved))).unfused).toEqual([
      { node: "/bn3", op: "", pass: "fuse-conv-batch-norm", reason: "another node reads the Conv" },
    ]);
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
    ["RESULT_INVALID", { ...saved, quantization: { ...saved.quantization, regions: [{ region: "/a" }] } }],
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

  const path = (): string => modelFile(temporaryFolder(), text);

  it("lists what one would expect to be fused, each node once", async () => {
    const { unfused } = await explain(path());
    expect(unfused).toContainEqual({
      node: "BatchNormalization:y",
      op: "BatchNormalization",
      pass: "fuse-conv-batch-norm",
      reason: "other nodes read the Conv too",
      detail: "Flatten Flatten:r reads it too",
    });
    expect(new Set(unfused.map(({ node }) => node)).size).toBe(unfused.length);
  });

  it("tells of a node who looked at it and what they said", async () => {
    const { nodes } = await explain(path(), "BatchNormalization:y");
    expect(nodes).toHaveLength(1);
    expect(nodes[0]).toMatchObject({ op: "BatchNormalization", remains: true, standsFor: [], changedBy: [] });
    expect(nodes[0]!.asked).toContainEqual({ pass: "fuse-conv-batch-norm", answer: null });
  });

  it("tells of a node that is gone which pass took it", async () => {
    const { nodes } = await explain(path(), "Identity:f");
    expect(nodes).toEqual([
      expect.objectContaining({ node: "Identity:f", remains: false, changedBy: ["eliminate-identity"] }),
    ]);
  });

  it("finds a fused node by what it stands for", async () => {
    const fused = modelFile(
      temporaryFolder(),
      `(x: f32[1,3,8,8]) -> (y) {
        c = Conv(x, $w: f32[4,3,1,1])
        y = BatchNormalization(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4] = {1,1,1,1})
      }`,
    );
    const { nodes, unfused } = await explain(fused, "BatchNormalization:*");
    expect(unfused).toEqual([]);
    expect(nodes).toEqual([
      expect.objectContaining({
        op: "Conv",
        standsFor: ["Conv:c", "BatchNormalization:y"],
        changedBy: ["fuse-conv-batch-norm"],
      }),
    ]);
  });

  it("leaves out passes that are not wanted, and says so", async () => {
    const { passes, unfused } = await runExplain(
      { path: path(), nodes: null, runtime: runtimeConfig(), graph: graphConfig({ skip: ["eliminate-identity"] }) },
      null,
    );
    expect(passes.map(({ name }) => name)).not.toContain("eliminate-identity");
    expect(unfused).toContainEqual(
      expect.objectContaining({ op: "Identity", reason: "eliminate-identity: it was left out" }),
    );
  });

  it("names the flag that keeps the opset", async () => {
    const gelu = modelFile(
      temporaryFolder(),
      `(x: f32[2,3]) -> (y) {
        a = Div(x, $f: f32[] = {1.4142135})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
        h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)
      }`,
    );
    const config = { path: gelu, nodes: null, runtime: runtimeConfig(), graph: graphConfig({ keepOpset: true }) };
    expect((await runExplain(config, null)).unfused).toContainEqual(
      expect.objectContaining({ op: "Erf", reason: "needs opset 20: --keep-opset was given" }),
    );
  });

  it("tells of an opset that a pass raised", async () => {
    const gelu = modelFile(
      temporaryFolder(),
      `(x: f32[2,3]) -> (y) {
        a = Div(x, $f: f32[] = {1.4142135})  e = Erf(a)  s = Add(e, $one: f32[] = {1.0})
        h = Mul(x, $half: f32[] = {0.5})  y = Mul(h, s)
      }`,
    );
    expect((await explain(gelu)).notes[0]).toMatch(/^opset 17 raised to 20$/);
  });

  it("hints at what only the runtime's own operators can do", async () => {
    const conv = modelFile(
      temporaryFolder(),
      "(x: f32[1,3,8,8]) -> (y) { c = Conv(x, $w: f32[4,3,1,1])  y = Relu(c) }",
    );
    const { runtimeSpecific, unfused } = await explain(conv);
    expect(runtimeSpecific).toEqual([{ pass: "fuse-conv-activation", nodes: ["Relu:y"] }]);
    expect(unfused).toEqual([]);
  });

  it("hints at what only an approximation makes faster", async () => {
    const model = parseModel('(x: f32[2,4]) -> (y, z) { y = Gelu(x)  z = Gelu<approximate="tanh">(x) }', { opset: 20 });
    for (const { value } of model.graph.outputs) value.type = { dtype: "f32", shape: [2, 4] };
    const path = join(temporaryFolder(), "gelu.onnx");
    saveModel(model, path).commit();
    const { lossy, unfused } = await explain(path);
    expect(lossy).toEqual([{ pass: "approximate-gelu", nodes: ["Gelu:y"] }]);
    expect(unfused).toEqual([]);
  });

  it("says where integers would end, and why", async () => {
    const model = modelFile(
      temporaryFolder(),
      `(x: f32[1,4,8,8]) -> (y, z) {
        a = Conv(x, $w: f32[4,4,1,1])
        r = Relu(a)
        t = Tanh(r)
        y = Conv(t, $v: f32[4,4,1,1])
        z = MaxPool<kernel_shape=[2,2]>(r)
      }`,
    );
    const { float } = await explain(model);
    expect(float.map(({ node }) => node)).toEqual(["Tanh:t", "MaxPool:z"]);
    expect(float[0]!.reason).toContain("has no integer Tanh");
    expect(float[1]!.reason).toContain("no product on integers reads its result");
  });

  it("says of products with quantized weights that they are quantized already", async () => {
    const quantized = modelFile(
      temporaryFolder(),
      `(x: f32[5,2,3], z: f32[5,2,3]) -> (y, v) {
        w = DequantizeLinear($q: i8[3,4], $s: f32[] = {0.1}, $zero: i8[] = {0})
        y = MatMul(x, w)
        t = Transpose<perm=[0,2,1]>(z)
        v = MatMul(x, t)
      }`,
    );
    const { float, notes } = await explain(quantized);
    expect(Object.fromEntries(float.map(({ node, reason }) => [node, reason]))).toEqual({
      "MatMul:y": "quantized already: the weights come from a DequantizeLinear",
      "MatMul:v": "both factors are activations",
    });
    expect(notes.join()).toContain("the model is quantized already");
  });
});
