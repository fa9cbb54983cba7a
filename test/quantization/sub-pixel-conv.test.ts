import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import {
  errorOf,
  opsOf,
  optimizedByRuntime,
  prepared,
  quantizeText,
  relativeError,
  safeTarget,
} from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** Between two integer products; `weight` of the ConvTranspose, which reads 6 channels. */
const between = (attributes: string, weight: string, size: string, behind = "r = Relu(c)"): string => {
  const [, channels, ...kernel] = weight.split(",");
  const ones = kernel.map(() => "1").join(",");
  return `(x: f32[2,4,${size}]) -> (y) {
    a = Conv(x, $w: f32[6,4,${ones}], $b: f32[6])
    c = ConvTranspose<${attributes}>(a, $t: f32[${weight}], $d: f32[${channels}])
    ${behind}
    y = Conv(r, $v: f32[5,${channels},${ones}])
  }`;
};

const forms: readonly (readonly [title: string, attributes: string, weight: string, size: string])[] = [
  ["a window of one stride", "strides=[2,2]", "6,8,2,2", "5,4"],
  ["windows that reach over each other, the sides cut off", "strides=[2,2], pads=[1,1,1,1]", "6,8,4,4", "5,4"],
  ["a window of odd size, and more behind it", "strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]", "6,8,3,3", "5,4"],
  ["sides cut off unevenly", "strides=[2,3], pads=[0,2,1,0]", "6,8,3,5", "5,4"],
  ["whole strides cut off", "strides=[2,2], pads=[3,3,3,3]", "6,8,6,6", "5,4"],
  ["a stride of one", "pads=[1,0,1,0]", "6,8,3,2", "5,4"],
  ["gaps between windows", "strides=[3,3]", "6,8,2,2", "5,4"],
  ["a stride along one axis alone", "strides=[1,2]", "6,8,3,4", "5,4"],
  ["a stride along the other", "strides=[2,1]", "6,8,4,3", "5,4"],
  ["a line", "strides=[4], pads=[2,2]", "6,8,8", "9"],
  ["a line with nothing cut off", "strides=[3]", "6,7,3", "9"],
  ["a volume", "strides=[2,1,3], pads=[0,1,1,1,1,1]", "6,4,3,3,4", "3,4,3"],
  ["no window over VALID pads", 'strides=[2,2], auto_pad="VALID"', "6,8,3,3", "5,4"],
];

describe("subPixelConvs", () => {
  it.each(forms)("computes %s as the ConvTranspose does", async (_, attributes, weight, size) => {
    const { float, model, feeds } = await quantizeText(between(attributes, weight, size));
    expect(opsOf(model)).not.toContain("ConvTranspose");
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each(["1,4,5,W", "N,4,H,5", "1,4,H,W", "N,4,H,W"])("finds out sizes that are free: %s", async (shape) => {
    const text = between("strides=[2,2], pads=[1,0,0,1]", "6,8,3,4", "5,4").replace("2,4,5,4", shape);
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("ConvTranspose");
    expect(opsOf(model)).toContain("Shape");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it.each([
    ["nothing", "r = Identity(c)"],
    ["a Clip", "r = Clip(c, $low: f32[] = {0}, $high: f32[] = {2})"],
    ["a LeakyRelu", "r = LeakyRelu(c)"],
    ["several readers", "s = Relu(c)\n p = Conv(s, $u: f32[8,8,1,1])\n r = Add(s, p)"],
  ])("stands in front of %s", async (_, behind) => {
    const { float, model, feeds } = await quantizeText(between("strides=[2,2]", "6,8,2,2", "5,4", behind));
    expect(opsOf(model)).not.toContain("ConvTranspose");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("leaves everything to integer kernels, without a Transpose around them", async () => {
    const { model } = await quantizeText(between("strides=[2,2], pads=[1,1,1,1]", "6,16,4,4", "5,4"));
    const ops = opsOf(await optimizedByRuntime(model));
    expect(ops.filter((op) => op === "QLinearConv")).toHaveLength(3);
    // One at each end of the model, and the one that copies rows.
    expect(ops.filter((op) => op === "Transpose")).toHaveLength(3);
    expect(ops).toContain("Slice");
  });

  it("needs no copies along a line", async () => {
    const { model } = await quantizeText(between("strides=[4]", "6,16,4", "9"));
    const ops = opsOf(await optimizedByRuntime(model));
    expect(ops.filter((op) => op === "QLinearConv")).toHaveLength(3);
    expect(ops.filter((op) => op === "Transpose")).toHaveLength(2);
  });

  it("gives an output of the model its own shape", async () => {
    const text = `(x: f32[2,4,5,4]) -> (r) {
      a = Conv(x, $w: f32[6,4,1,1])
      c = ConvTranspose<strides=[2,2]>(a, $t: f32[6,8,2,2])
      r = Relu(c)
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(model.graph.outputs[0]!.value.shape).toEqual([2, 8, 10, 8]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("stores weights that several read once", async () => {
    const text = `(x: f32[2,4,5,4]) -> (y) {
      a = Conv(x, $w: f32[6,4,1,1])
      b = Relu(a)
      c = ConvTranspose<strides=[2,2]>(a, $t: f32[6,8,2,2])
      d = ConvTranspose<strides=[2,2]>(b, $t)
      e = Conv(c, $v: f32[5,8,1,1])
      f = Conv(d, $u: f32[5,8,1,1])
      y = Add(e, f)
    }`;
    const { float, model, feeds } = await quantizeText(text);
    const convs = [...model.graph.nodes()].filter((node) => node.is("Conv") && node.inputs[1]!.shape![0] === 32);
    expect(convs).toHaveLength(2);
    expect(new Set(convs.map(({ inputs }) => inputs[1]!.producer!.inputs[0])).size).toBe(1);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each(["2,4,5,4", "2,4,5,W", "2,4,H,4", "N,4,H,W"])("writes one behind the other, of sizes %s", async (shape) => {
    const text = `(x: f32[${shape}]) -> (y, d) {
      a = Conv(x, $w: f32[6,4,1,1])
      b = ConvTranspose<strides=[2,2]>(a, $t: f32[6,8,2,2])
      r = Relu(b)
      c = ConvTranspose<strides=[2,2], pads=[1,1,1,1]>(r, $u: f32[8,8,4,4])
      d = ConvTranspose(c, $s: f32[8,4,3,3])
      y = Conv(d, $v: f32[5,4,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("ConvTranspose");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.04);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.04);
    const [, last] = model.graph.outputs;
    if (shape === "2,4,5,4") expect(last!.value.shape).toEqual([2, 4, 22, 18]);
  });

  it("leaves a Resize behind it the ratio of sizes", async () => {
    const text = `(x: f32[2,4,5,4]) -> (y) {
      a = Conv(x, $w: f32[6,4,1,1])
      b = ConvTranspose<strides=[2,2]>(a, $t: f32[6,8,2,2])
      c = Resize<coordinate_transformation_mode="asymmetric", nearest_mode="floor">(b, _, _, $z: i64[4] = {2,8,20,16})
      y = Conv(c, $v: f32[5,8,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("Resize");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("makes weights of a file once for each of the strides that they are read by", async () => {
    const text = `(x: f32[2,4,5,5]) -> (c, d, e) {
      a = Conv(x, $w: f32[6,4,1,1])
      c = ConvTranspose<strides=[2,3]>(a, $t: f32[6,8,2,2])
      d = ConvTranspose<strides=[3,2]>(a, $t)
      e = ConvTranspose<strides=[2,1]>(a, $t)
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("ConvTranspose");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("leaves one in float that reads what has no known rank, or whose result is quantized behind a Relu", async () => {
    const unknown = `(x: f32[2,4,5,4], s: i64[R]) -> (y) {
      r = Reshape(x, s)
      a = Conv(r, $w: f32[6,4,1,1])
      c = ConvTranspose<strides=[2,2]>(a, $t: f32[6,8,2,2])
      y = Conv(c, $v: f32[5,8,1,1])
    }`;
    const model = await prepared(unknown);
    const ops = planStatic(model, safeTarget, { neighbours: true, depthwise: true }).nodes.map(({ node }) => node.op);
    expect(ops).toEqual(["Conv", "Conv"]);
    const behind =
      "s = Relu(c)\n q = QuantizeLinear(s, $g: f32[] = {0.05}, $z: u8[] = {0})\n r = DequantizeLinear(q, $g, $z)";
    const quantized = await quantizeText(between("strides=[2,2]", "6,8,2,2", "5,4", behind));
    expect(opsOf(quantized.model)).toContain("ConvTranspose");
  });

  it("goes into the integer operators of ai.onnx too", async () => {
    const text = between("strides=[2,2], pads=[1,1,1,1]", "6,8,4,4", "5,4");
    const [{ float, model, feeds }, { model: operators }] = [await quantizeText(text), await quantizeText(text)];
    expect(toIntegerOperators(operators)).toBe(3);
    expect(opsOf(operators)).not.toContain("Conv");
    expect(relativeError(await runModel(model, feeds), await runModel(operators, feeds))).toBeLessThan(0.03);
    expect(relativeError(await runModel(float, feeds), await runModel(operators, feeds))).toBeLessThan(0.03);
  });

  it.each([
    ["groups", "group=2, strides=[2,2]", "6,8,2,2"],
    ["dilations", "dilations=[2,2], strides=[2,2]", "6,8,2,2"],
    ["padding that follows from the size", 'strides=[2,2], auto_pad="SAME_UPPER"', "6,8,3,3"],
    ["a size that was asked for", "strides=[2,2], output_shape=[10,8]", "6,8,3,3"],
    ["more behind it than the window reaches", "strides=[2,2], output_padding=[1,1]", "6,8,2,2"],
    ["more cut off than a Conv can leave out", "strides=[2,2], pads=[2,2,0,0]", "6,8,2,2"],
  ])("leaves one with %s in float", async (_, attributes, weight) => {
    const channels = attributes.startsWith("group") ? "16" : "8";
    const text = between(attributes, weight, "5,4")
      .replace("$v: f32[5,8", `$v: f32[5,${channels}`)
      .replace("$d: f32[8]", `$d: f32[${channels}]`);
    const { float, model, plan, feeds } = await quantizeText(text);
    expect(opsOf(model)).toContain("ConvTranspose");
    expect(plan.float).toEqual([
      { node: expect.any(String), op: "ConvTranspose", reason: "the target has no integer ConvTranspose" },
    ]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("leaves one in float whose result is quantized already, and one that a target has as it is", async () => {
    const quantized = "q = QuantizeLinear(c, $s: f32[] = {0.05}, $z: u8[] = {9})\n r = DequantizeLinear(q, $s, $z)";
    const { model } = await quantizeText(between("strides=[2,2]", "6,8,2,2", "5,4", quantized));
    expect(opsOf(model)).toContain("ConvTranspose");
    const tensorRt = integerTargetNamed("tensorrt", safeTarget);
    const { model: other, plan } = await quantizeText(between("strides=[2,2]", "6,8,2,2", "5,4"), {}, tensorRt);
    expect(opsOf(other)).toContain("ConvTranspose");
    expect(plan.nodes.map(({ node }) => node.op)).toContain("ConvTranspose");
  });
});
