import { describe, expect, it } from "vitest";
import { loadModel, type Model, parseModel } from "../../src/ir/index.js";
import { catalog, runtimeFusions } from "../../src/passes/catalog.js";
import { convertOpset } from "../../src/passes/opset/convert-opset.js";
import { runPasses } from "../../src/rewrite/index.js";
import { requireTarget, targetNames } from "../../src/target/find-target.js";
import { violationsOf } from "../../src/target/violations.js";

const violations = (target: string, text: string, opset = 17) =>
  violationsOf(parseModel(text, { opset }), requireTarget(target)).filter(({ about }) => about === "operator");
const reasons = (target: string, text: string, opset = 17) =>
  violations(target, text, opset).map(({ op, weight, reason }) => [op, weight, reason]);

describe("violationsOf", () => {
  it("names node, operator, reason and what to do", () => {
    expect(violations("openvino", "(x: f32[2,2]) -> (y) { a = Relu(x) y = Det(a) }")).toEqual([
      {
        about: "operator",
        weight: "refused",
        node: "Det:y",
        op: "Det",
        reason: "its reader has no rule for Det",
        advice: expect.stringContaining("OpenVINO extension"),
      },
    ]);
  });

  it.each([
    ["f64", "PRelu(x, x)", "PRelu of f64"],
    ["i32", "PRelu(x, x)", "PRelu of i32"],
    ["f64", "Selu(x)", "Selu of f64"],
    ["i64", "Relu(x)", "Relu of i64"],
    ["u32", "ReduceLogSumExp(x)", "ReduceLogSumExp of u32"],
  ])("knows what is missing of %s alone: %s", (type, call, what) => {
    const text = (each: string): string => `(x: ${each}[2,3]) -> (y) { y = ${call} }`;
    expect(reasons("ort-cpu", text(type), 18)).toEqual([]);
    const reason = `it has no kernel for ${what} from opset 19 on`;
    expect(reasons("ort-cpu", text(type), 19)).toEqual([[what.split(" ")[0], "refused", reason]]);
    expect(reasons("ort-cpu", text("f32"), 19)).toEqual([]);
  });

  it("knows where the runtime spells an operator out with other types", () => {
    const text = (type: string): string => `(x: ${type}[1,2,3,3]) -> (y) { y = MeanVarianceNormalization(x) }`;
    const refused = ["f16", "f32"].map((type) =>
      [13, 17, 18, 19].filter((opset) => reasons("ort-cpu", text(type), opset).length > 0),
    );
    expect(refused).toEqual([[13, 18], []]);
  });

  it("looks into bodies, and not at calls of the model's own functions", () => {
    const text = `(c: bool[], x: f32[2,2]) -> (y) {
      y = If<then_branch=() -> (a) { a = Det(x) }, else_branch=() -> (b) { b = ReduceSum<keepdims=0>(x) }>(c)
    }`;
    expect(violations("openvino", text).map(({ op }) => op)).toEqual(["Det"]);
    const model = { ...parseModel("(x: f32[2,2]) -> (y) { y = Det(x) }"), functions: new Set(["::Det"]) };
    expect(violationsOf(model, requireTarget("openvino"))).toEqual([]);
  });

  it.each([
    ["opset", 21, 8, "opset 21 is beyond 20, the newest that it takes"],
    ["irVersion", 17, 10, "IR version 10 is beyond 9, the newest that it reads"],
  ])("tells of the %s", (about, opset, irVersion, reason) => {
    const model = parseModel("(x: f32[2]) -> (y) { y = Relu(x) }", { opset });
    model.irVersion = irVersion;
    expect(violationsOf(model, requireTarget("ort-cpu@1.17"))).toMatchObject([{ about, node: null, reason }]);
  });

  it("tells of an opset that is too old", () => {
    const found = violationsOf(
      parseModel("(x: f32[2]) -> (y) { y = Relu(x) }", { opset: 8 }),
      requireTarget("tensorrt"),
    );
    expect(found).toMatchObject([{ about: "opset", advice: expect.stringContaining("--opset 13") }]);
  });

  it.each([
    ["tensorrt", 1],
    ["coreml", 1],
    ["ort-cpu", 0],
    ["openvino", 0],
  ])("%s: inputs of open sizes count %i", (target, count) => {
    const found = violationsOf(parseModel("(x: f32[N,2], z: f32[2]) -> (y) { y = Add(x, z) }"), requireTarget(target));
    expect(found.map(({ about, weight, node }) => [about, weight, node])).toEqual(
      count === 0 ? [] : [["input", "caution", "x"]],
    );
  });
});

describe("ort-cpu", () => {
  const roi =
    "(x: f32[1,1,6,6], r: f32[1,4], b: i64[1]) -> (y) { y = RoiAlign<output_height=2,output_width=2>(x, r, b) }";

  it("has lost kernels at later opsets", () => {
    expect(reasons("ort-cpu", roi, 21)).toEqual([]);
    expect(reasons("ort-cpu", roi, 22)).toEqual([
      ["RoiAlign", "refused", "it has no kernel for RoiAlign from opset 22 on"],
    ]);
    expect(reasons("ort-cpu", "(x: f32[2]) -> (y) { y = Swish(x) }", 24)).toEqual([]);
    expect(reasons("ort-cpu", "(x: f32[2]) -> (y) { y = Swish(x) }", 25)).toHaveLength(1);
  });

  it.each([
    ["QuantizeLinear(x, $s: f32[] = {0.1}, $z: u8[])", 23, "1.23", "1.24"],
    ["LpNormalization(x)", 22, "1.24", "1.25"],
    ["DeformConv(x, x, x)", 19, "1.24", "1.25"],
  ])("has got kernels since: %s at opset %i is missing in %s", (call, opset, release, later) => {
    const text = `(x: f32[2]) -> (y) { y = ${call} }`;
    expect(violations(`ort-cpu@${release}`, text, opset)).toMatchObject([
      { weight: "refused", advice: `Keep the model at opset ${opset - 1} or below, or use release ${later} or later.` },
    ]);
    expect(violations(`ort-cpu@${release}`, text, opset - 1)).toEqual([]);
    expect(violations(`ort-cpu@${later}`, text, opset)).toEqual([]);
  });

  it("takes its own domains and no others", () => {
    expect(reasons("ort-cpu", "(x: f32[2]) -> (y) { y = com.microsoft::Gelu(x) }")).toEqual([]);
    expect(reasons("ort-cpu", "(x: f32[2]) -> (y) { y = mine::Gelu(x) }")).toEqual([
      ["mine::Gelu", "refused", "it has no operators of the domain mine"],
    ]);
  });
});

describe("ort-web", () => {
  it.each([
    ["(x: f32[2,2]) -> (y) { y = Det(x) }", "Det", "it has no kernel for Det"],
    ["(x: f64[2,2]) -> (y) { y = Relu(x) }", "Relu", "it has no 64-bit floats"],
    ["(x: f32[1,1,4,4,4], w: f32[1,1,2,2,2]) -> (y) { y = Conv(x, w) }", "Conv", "its input has rank 5, not 3 or 4"],
  ])("%s runs elsewhere", (text, op, reason) => {
    expect(reasons("ort-web", text)).toEqual([[op, "elsewhere", reason]]);
  });

  it("knows GridSample of up to 19", () => {
    const text = "(x: f32[1,1,4,4], g: f32[1,3,3,2]) -> (y) { y = GridSample(x, g) }";
    expect(reasons("ort-web", text, 19)).toEqual([]);
    expect(reasons("ort-web", text, 20)).toHaveLength(1);
  });
});

describe("tensorrt", () => {
  it.each([
    ["y = QuantizeLinear(x, $s: f32[] = {0.1}, $z: u8[] = {0})", "it quantizes to i8, i4, f8e4m3fn, f4e2m1, not u8"],
    ["y = QuantizeLinear(x, $s: f32[] = {0.1}, $z: i8[] = {3})", "its zero point has to be 0"],
    ["y = MatMulInteger(x, x)", "MatMulInteger is not among the operators that it lists"],
    ["y = mine::Op(x)", "mine::Op is not among the operators that it lists"],
    ["y, i = MaxPool<kernel_shape=[2,2]>(x) z = Neg(i)", "its output 1 is not computed"],
    ["y = MaxPool<kernel_shape=[2,2],dilations=[2,2]>(x)", "dilations have to be 1"],
    ['y = Resize<mode="cubic">(x, _, $s: f32[4] = {1.0,1.0,2.0,2.0})', 'mode is "cubic", not nearest or linear'],
    ["y, h, c = LSTM<hidden_size=2,layout=1>(x, $w: f32[1,8,2], $r: f32[1,8,2])", "layout is 1, not 0"],
    ["s = Shape(x) y = ReduceSum(x, s)", "its input axes has to be a constant"],
    ["y = Cast<to=5>(x)", "it has no type i16"],
  ])("refuses %s", (nodes, reason) => {
    const model = parseModel(`(x: f32[1,1,6,6]) -> (y) { ${nodes} }`);
    for (const node of model.graph.nodes()) {
      if (node.is("Cast")) node.outputs[0]!.type = { dtype: "i16", shape: null };
    }
    expect(violationsOf(model, requireTarget("tensorrt")).map((violation) => violation.reason)).toContain(reason);
  });

  it("takes symmetric pairs of signed 8 bits", () => {
    const text =
      "(x: f32[2]) -> (y) { q = QuantizeLinear(x, $s: f32[] = {0.1}, $z: i8[] = {0}) y = DequantizeLinear(q, $s, $z) }";
    expect(reasons("tensorrt", text)).toEqual([]);
  });

  it("cautions about 64-bit floats", () => {
    expect(reasons("tensorrt", "(x: f64[2]) -> (y) { y = Relu(x) }")).toMatchObject([
      ["Relu", "caution", expect.anything()],
    ]);
  });
});

describe("the mobile providers", () => {
  it.each([
    ["coreml", "y = Gemm(x, x)", "its input B has to be a constant"],
    ["coreml", "y = Det(x)", "it has no kernel for Det"],
    ["coreml", "y = Slice(x, $a: i64[1], $b: i64[1])", null],
    ["coreml", "s = Shape(x) y = Slice(x, s, s)", "its input starts has to be a constant"],
    ["nnapi", "y = Gelu(x)", "it has no kernel for Gelu"],
    ["nnapi", 'y = Pad<mode="reflect">(x, $p: i64[4])', 'mode is "reflect", not constant'],
    ["nnapi", "y = Gather(x, $i: i64[1])", null],
    ["nnapi", "y = Gemm(x, x)", "transB has to be 1 or B a constant"],
    ["nnapi", "y = Gemm<transB=1>(x, x)", null],
  ])("%s: %s", (target, nodes, reason) => {
    const found = reasons(target, `(x: f32[2,2]) -> (y) { ${nodes} }`, 20).filter(([op]) => op !== "Shape");
    expect(found.map(([, weight, why]) => [weight, why])).toEqual(reason === null ? [] : [["elsewhere", reason]]);
  });
});

describe("openvino", () => {
  it.each([
    ["y = com.microsoft::FusedMatMul(x, x)", 0],
    ["y = com.microsoft::NhwcFusedConv(x, x)", 1],
    ["y = mine::Op(x)", 1],
    ["y = ai.onnx.ml::Scaler(x)", 0],
    ["s = Shape(x) y = Unsqueeze(x, s)", 1],
  ])("%s has %i violations", (nodes, count) => {
    expect(reasons("openvino", `(x: f32[2,2]) -> (y) { ${nodes} }`)).toHaveLength(count);
  });
});

/** Patterns that become operators which some of the targets lack. */
const tempting: readonly string[] = [
  "(x: f32[1,8,4]) -> (y) { a = Mul(x, $h: f32[] = {0.7071067811865475}) e = Erf(a) s = Add(e, $o: f32[] = {1.0}) m = Mul(x, s) y = Mul(m, $k: f32[] = {0.5}) }",
  "(x: f32[1,2,8,8]) -> (y) { a = Add(x, $t: f32[] = {3.0}) c = Clip(a, $l: f32[] = {0.0}, $u: f32[] = {6.0}) d = Div(c, $s: f32[] = {6.0}) y = Mul(x, d) }",
  "(x: f32[2,8]) -> (y) { y = Mul(x, s) s = Sigmoid(x) }".replace(
    "y = Mul(x, s) s = Sigmoid(x)",
    "s = Sigmoid(x) y = Mul(x, s)",
  ),
  "(x: f32[2,8]) -> (y) { p = Softplus(x) t = Tanh(p) y = Mul(x, t) }",
  "(x: f32[2,8]) -> (y) { m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) p = Pow(d, $e: f32[] = {2.0}) v = ReduceMean<axes=[-1]>(p) a = Add(v, $i: f32[] = {0.00001}) q = Sqrt(a) n = Div(d, q) w = Mul(n, $g: f32[8]) y = Add(w, $b: f32[8]) }",
  "(x: f32[2,8]) -> (y) { p = Pow(x, $e: f32[] = {2.0}) v = ReduceMean<axes=[-1]>(p) a = Add(v, $i: f32[] = {0.00001}) q = Sqrt(a) n = Div(x, q) y = Mul(n, $g: f32[8]) }",
  "(x: f32[2,8], w: f32[8,3]) -> (y) { m = MatMul(x, w) y = Add(m, $b: f32[3]) }",
  "(x: f32[1,1,6,6]) -> (y) { c = Conv(x, $w: f32[2,1,3,3]) y = Relu(c) }",
];
const fixtures = ["if_bodies", "opset9_chain", "transformer_block", "digits", "loop_body"];

const raiseOpset = (model: Model, version: number): null => {
  convertOpset(model, version);
  return null;
};

describe("what passes make for a target", () => {
  it("is not taken everywhere where no target was said", async () => {
    const target = requireTarget("nnapi");
    for (const text of tempting.slice(0, 2)) {
      const model = parseModel(text, { opset: 17 });
      await runPasses(model, catalog, { raiseOpset });
      expect(violationsOf(model, target).filter(({ about }) => about === "operator")).not.toEqual([]);
    }
  });

  it.each(targetNames)("%s takes, or is no more of what it lacked", async (name) => {
    const target = requireTarget(name);
    const models = [
      ...tempting.map((text) => parseModel(text, { opset: 17 })),
      ...fixtures.map((file) => loadModel(`fixtures/models/${file}.onnx`)),
    ];
    for (const model of models) {
      const lacking = (): Map<string | null, number> => {
        const counts = new Map<string | null, number>();
        for (const { about, weight, op } of violationsOf(model, target)) {
          if (about === "operator" && weight !== "caution") counts.set(op, (counts.get(op) ?? 0) + 1);
        }
        return counts;
      };
      const before = lacking();
      await runPasses(model, [...catalog, ...runtimeFusions], { target, raiseOpset, check: true });
      expect([...lacking()].filter(([op, count]) => count > (before.get(op) ?? 0))).toEqual([]);
    }
  });

  it("does not draw a node that is taken into one that is not", async () => {
    // NNAPI has Conv, and neither HardSigmoid nor FusedConv.
    const text = "(x: f32[1,1,6,6]) -> (y) { c = Conv(x, $w: f32[2,1,3,3]) y = HardSigmoid(c) }";
    const model = parseModel(text);
    await runPasses(model, runtimeFusions, { target: requireTarget("nnapi") });
    expect([...model.graph.nodes()].map(({ op }) => op)).toEqual(["Conv", "HardSigmoid"]);
    const freely = parseModel(text);
    await runPasses(freely, runtimeFusions);
    expect([...freely.graph.nodes()].map(({ op }) => op)).toEqual(["FusedConv"]);
  });

  it("is declined in the words of the target", async () => {
    const text = tempting.at(-1)!;
    const freely = parseModel(text);
    await runPasses(freely, runtimeFusions);
    expect([...freely.graph.nodes()].map(({ opName }) => opName)).toEqual(["com.microsoft::FusedConv"]);
    const model = parseModel(text);
    const reports = await runPasses(model, runtimeFusions, { target: requireTarget("tensorrt") });
    expect([...model.graph.nodes()].map(({ op }) => op)).toEqual(["Conv", "Relu"]);
    expect(reports.flatMap(({ skipped }) => skipped.map(({ reason }) => reason))).toContain(
      "NVIDIA TensorRT 11: com.microsoft::FusedConv is not among the operators that it lists",
    );
  });
});
