import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { loadModel } from "../../../src/ir/index.js";
import { runInspect } from "../../../src/pipeline/inspect/inspect.js";
import { targetFinding } from "../../../src/pipeline/inspect/inspect-target.js";
import { describeModel, evaluate } from "../../support/ask-runtime.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { type ModelFileOptions, modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const inspect = (text: string, options?: ModelFileOptions) => {
  const folder = temporaryFolder();
  return runInspect(modelFile(folder, text, options), runtimeConfig(), null);
};
const codes = async (text: string, options?: ModelFileOptions) =>
  (await inspect(text, options)).findings.map(({ code }) => code);

describe("runInspect without the runtime", () => {
  it("tells what is in a model", async () => {
    const inspected = await runInspect("fixtures/models/transformer_block.onnx", runtimeConfig(), null);
    expect(inspected).toMatchObject({ schemaVersion: 1, command: "inspect", tool: null, opsets: { "ai.onnx": 17 } });
    expect(inspected.inputs.length).toBeGreaterThan(0);
    expect(inspected.operators[0]!.nodes).toBeGreaterThanOrEqual(inspected.operators.at(-1)!.nodes);
    expect(inspected.operators.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(inspected.model.nodes);
    expect(inspected.parameters.byDtype.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(inspected.parameters.bytes);
    expect(JSON.parse(JSON.stringify(inspected))).toEqual(inspected);
  });

  it("counts parameters by type and lists the largest", async () => {
    const { parameters } = await inspect(
      "(x: f32[8]) -> (y) { h = Mul(x, $small: f32[8])\n y = Mul(h, $large: f32[4,8]) }",
    );
    expect(parameters).toMatchObject({ count: 40, bytes: 160, byDtype: [{ dtype: "f32", count: 40, bytes: 160 }] });
    expect(parameters.largest.map(({ name }) => name)).toEqual(["large", "small"]);
  });

  it("counts operators in bodies", async () => {
    const { operators } = await runInspect("fixtures/models/if_bodies.onnx", runtimeConfig(), null);
    expect(operators.find(({ op }) => op === "If")).toBeDefined();
    expect(operators.length).toBeGreaterThan(1);
  });

  it("has no number of operations when a shape is unknown", async () => {
    const { flops } = await inspect(`(x: f32[1,8]) -> (y) {
      h = MatMul(x, $a: f32[8,8])
      y = MatMul(h, $b: f32[8,8])
    }`);
    expect(flops).toMatchObject({ total: null, nodes: 2, nodesWithoutShape: 2 });
  });
});

describe("runInspect with a runtime", () => {
  it("counts operations for the batch asked for, behind shape arithmetic too", async () => {
    const folder = temporaryFolder();
    // The second product's shape depends on a Reshape whose target is computed.
    const text = `(x: f32[N,8]) -> (y) {
      h = MatMul(x, $a: f32[8,4])
      rows = Shape<end=1>(h)
      shape = Concat<axis=0>(rows, $two: i64[2] = {2, 2})
      r = Reshape(h, shape)
      y = MatMul(r, $b: f32[2,3])
    }`;
    const path = modelFile(folder, text);
    const runtime = new FakeRuntime({});
    const context = fakeContext(
      Object.assign(runtime, {
        describe: async (probe: string) => ({ inputs: [], ...(await describeModel(loadModel(probe))) }),
        run: async (model: string) => evaluate(loadModel(model)),
      }),
      { scratch: folder },
    );
    const { flops, tool } = await runInspect(path, runtimeConfig({ batch: 3 }), context);
    expect(flops).toMatchObject({
      total: 2 * (3 * 4 * 8 + 3 * 2 * 3 * 2),
      nodesWithoutShape: 0,
      assumed: { x: [3, 8] },
    });
    expect(tool).toEqual({ version: "0.0.0" });
  });

  it("goes on when the runtime refuses the model, and says why", async () => {
    const folder = temporaryFolder();
    const refusal = new InferOptError("MODEL_REFUSED", "runtime", "no kernel for Frobnicate");
    const runtime = Object.assign(new FakeRuntime({}), { describe: () => Promise.reject(refusal) });
    const path = modelFile(folder, "(x: f32[N,8]) -> (y) { y = Frobnicate(x) }");
    const { flops, operators } = await runInspect(path, runtimeConfig(), fakeContext(runtime, { scratch: folder }));
    expect(flops.problem).toBe("no kernel for Frobnicate");
    expect(operators).toEqual([{ op: "Frobnicate", nodes: 1 }]);
  });
});

describe("findings", () => {
  it("of a BatchNormalization behind a Conv lead to fuse", async () => {
    const { findings, model } = await inspect(`(x: f32[1,3,8,8]) -> (y) {
      c = Conv(x, $w: f32[4,3,1,1])
      y = BatchNormalization(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4])
    }`);
    expect(findings[0]).toMatchObject({
      code: "BATCH_NORM_UNFUSED",
      command: `infer-opt fuse ${model.path} -o fused.onnx`,
    });
  });

  it("pass over a BatchNormalization whose Conv has another reader", async () => {
    const found = await codes(`(x: f32[1,3,8,8]) -> (y, c) {
      c = Conv(x, $w: f32[4,3,1,1])
      y = BatchNormalization(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4])
    }`);
    expect(found).toEqual([]);
  });

  it("of computed constants and idle nodes lead to fold", async () => {
    const found = await codes(`(x: f32[4]) -> (y) {
      a = Neg($c: f32[4])
      b = Exp(a)
      i = Identity(x)
      y = Add(i, b)
    }`);
    expect(found).toEqual(["CONSTANT_SUBGRAPH", "IDLE_NODES"]);
  });

  it("tell of an Identity once, and of what reads one of a constant all the same", async () => {
    const { findings } = await inspect(`(x: f32[4]) -> (y) {
      i = Identity($c: f32[4])
      e = Exp(i)
      y = Add(x, e)
    }`);
    expect(findings.map(({ code, nodes }) => [code, nodes.length])).toEqual([
      ["CONSTANT_SUBGRAPH", 1],
      ["IDLE_NODES", 1],
    ]);
    expect(await codes("(x: f32[4]) -> (y) { i = Identity($c: f32[4])\n y = Add(x, i) }")).toEqual(["IDLE_NODES"]);
  });

  it("count what holds weights by operator: a GRU is no matrix product", async () => {
    const { findings, flops } = await inspect(`(x: f32[3,1,64]) -> (y) {
      h, last = GRU<hidden_size = 64>(x, $w: f32[1,192,64], $r: f32[1,192,64])
      y = MatMul(h, $v: f32[64,8])
    }`);
    expect(findings[0]!.text).toContain("2 nodes (1 GRU, 1 MatMul) hold most of");
    expect(flops.operators).toEqual({ GRU: 1, MatMul: 1 });
  });

  it("does not call it a fault that weights are stored in half precision", async () => {
    const text = (type: string) => `(x: f32[8]) -> (y) { w = Cast<to = 1>($narrow: ${type}[8])\n y = Mul(x, w) }`;
    expect(await codes(text("f16"))).not.toContain("CONSTANT_SUBGRAPH");
    expect(await codes(text("f64"))).toContain("CONSTANT_SUBGRAPH");
  });

  it("of float32 weights worth the while lead to quantize", async () => {
    expect(await codes("(x: f32[1,256]) -> (y) { y = MatMul(x, $w: f32[256,256]) }")).toEqual(["FLOAT_WEIGHTS"]);
    expect(await codes("(x: f32[1,8]) -> (y) { y = MatMul(x, $w: f32[8,8]) }")).toEqual([]);
  });

  it("of an old opset and of external data", async () => {
    const text = "(x: f32[1,512]) -> (y) { y = Mul(x, $w: f32[512]) }";
    expect(await codes(text, { opset: 11 })).toEqual(["OLD_OPSET"]);
    expect(await codes(text, { externalData: true })).toEqual(["EXTERNAL_DATA"]);
  });

  it("of products in bodies", async () => {
    expect(
      await codes(`(c: bool, x: f32[2,2]) -> (y) {
        y = If<else_branch=() -> (n) { n = Neg(x) }, then_branch=() -> (r) { r = MatMul(x, $w: f32[2,2]) }>(c)
      }`),
    ).toEqual(["NODES_IN_BODIES"]);
  });

  it("do not send those whose weights all lie in bodies to calibration", async () => {
    const text = `(c: bool, x: f32[1,256]) -> (y) {
      y = If<else_branch=() -> (n) { n = Neg(x) }, then_branch=() -> (r) { r = MatMul(x, $w: f32[256,256]) }>(c)
    }`;
    expect(await codes(text)).toEqual(["NODES_IN_BODIES"]);
  });

  it("name commands that can be pasted, whatever the path, and sizes with a unit", async () => {
    const path = modelFile(temporaryFolder(), "(x: f32[1,256]) -> (y) { y = MatMul(x, $w: f32[256,256]) }", {
      name: "my model.onnx",
    });
    const { findings } = await runInspect(path, runtimeConfig(), null);
    expect(findings[0]).toMatchObject({ command: `infer-opt quantize '${path}' --calibration DATA -o int8.onnx` });
    expect(findings[0]!.text).toContain("1 node (1 MatMul) holds most of 262 kB of float32 weights");
  });

  it("leave weights of eight bits as they are", async () => {
    const found = await codes(`(x: f32[1,4]) -> (y) {
      d = DequantizeLinear($w: i8[4,4], $s: f32[])
      y = MatMul(x, d)
    }`);
    expect(found).toEqual(["ALREADY_QUANTIZED"]);
  });
});

describe("quantization that is there already", () => {
  const form = async (text: string) => (await inspect(text)).quantized.form;

  it("is pairs around float operators", async () => {
    const text = `(x: f32[4]) -> (y) {
      q = QuantizeLinear(x, $s: f32[] = {0.1}, $z: u8[] = {0})
      y = DequantizeLinear(q, $s, $z)
    }`;
    expect(await form(text)).toBe("qdq");
    expect(await codes(text)).toEqual(["ALREADY_QUANTIZED"]);
  });

  it("is weights alone", async () =>
    expect(
      await form("(x: f32[4]) -> (y) { w = DequantizeLinear($q: i8[4], $s: f32[] = {0.1})\n y = Mul(x, w) }"),
    ).toBe("weights-only"));
  it("is operators on integers", async () =>
    expect(await form("(a: u8[2,2], b: i8[2,2]) -> (y) { y = MatMulInteger(a, b) }")).toBe("integer-operators"));
  it("is none", async () => expect(await form("(x: f32[4]) -> (y) { y = Relu(x) }")).toBe("none"));
});

describe("runInspect for a target", () => {
  const text = "(x: f32[N,4,6,6]) -> (y) { a = Det(x) y = Unsqueeze(a, $axes: i64[1] = {0}) }";
  const inspectFor = (target: string, context: Parameters<typeof runInspect>[2] = null) =>
    runInspect(modelFile(temporaryFolder(), text), runtimeConfig(), context, target);

  it("lists what is not taken, and counts it in one finding", async () => {
    const { target, findings } = await inspectFor("tensorrt");
    expect(target).toMatchObject({
      name: "tensorrt",
      opsets: { oldest: 9, newest: 25 },
      violations: [
        { about: "input", node: "x", weight: "caution" },
        { about: "operator", node: "Det:a", op: "Det", weight: "refused" },
      ],
      counts: { refused: 1, elsewhere: 0, caution: 1 },
    });
    expect(findings[0]).toMatchObject({
      code: "TARGET_VIOLATIONS",
      severity: "advice",
      text: "NVIDIA TensorRT 11: 1 stands in the way, 1 to keep in mind",
      nodes: ["Det:a"],
    });
  });

  it("makes no finding of what only has to be known", async () => {
    const open = modelFile(temporaryFolder(), "(x: f32[N,4]) -> (y) { y = Relu(x) }");
    const { target, findings } = await runInspect(open, runtimeConfig(), null, "tensorrt");
    expect(target!.counts).toEqual({ refused: 0, elsewhere: 0, caution: 1 });
    expect(findings.map(({ code }) => code)).not.toContain("TARGET_VIOLATIONS");
  });

  it("tells nothing of a target that takes all of it, nor when none was named", async () => {
    expect((await inspectFor("ort-cpu")).target).toMatchObject({ violations: [] });
    expect((await inspectFor("ort-cpu")).findings.map(({ code }) => code)).not.toContain("TARGET_VIOLATIONS");
    expect(await inspect(text)).not.toHaveProperty("target");
  });

  it("asks the runtime for types that the file does not state", async () => {
    const wide = "(x: f32[1,1,3,3,3]) -> (y) { a = Relu(x) y = AveragePool<kernel_shape=[1,1,1]>(a) }";
    const path = modelFile(temporaryFolder(), wide);
    const runtime = Object.assign(new FakeRuntime({}), {
      describe: async (probe: string) => ({ inputs: [], ...(await describeModel(loadModel(probe))) }),
      run: async (model: string) => evaluate(loadModel(model)),
    });
    const context = fakeContext(runtime, { scratch: temporaryFolder() });
    const { target } = await runInspect(path, runtimeConfig(), context, "nnapi");
    expect(target!.violations.map(({ reason }) => reason)).toEqual(["its input has rank 5, not 4"]);
  });
});

describe("the finding about a target", () => {
  const found = (ops: readonly string[], opset = 17) =>
    targetFinding(
      {
        ...{ name: "ort-web", title: "the web", opsets: { oldest: 7, newest: 26 }, newestIrVersion: null, sources: [] },
        violations: ops.map((op) => ({
          ...{ about: "operator" as const, weight: "elsewhere" as const, node: `the ${op}`, op, reason: "no kernel" },
          advice: "",
        })),
        counts: { refused: 0, elsewhere: ops.length, caution: 0 },
      },
      "small.onnx",
      opset,
    )!.command;

  it("leads to fuse where rewriting may help", () => {
    expect(found(["QuantizeLinear", "LSTM"])).toBe("infer-opt fuse small.onnx --target ort-web -o fused.onnx");
  });

  it("leads to another export where the opset is too new, which fuse does not lower", () => {
    expect(found(["LSTM"], 27)).toBe("infer-opt fuse MODEL_OF_OPSET_26 --target ort-web -o fused.onnx");
  });

  it("leads to the float model where it is about integers alone", () => {
    expect(found(["QuantizeLinear", "QLinearConv"])).toBe("infer-opt fuse FLOAT_MODEL --target ort-web -o fused.onnx");
  });
});
