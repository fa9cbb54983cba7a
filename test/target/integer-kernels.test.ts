/** Holds the table of integer kernels against the installed runtime: what it makes of small quantized graphs. */
import { describe, expect, it } from "vitest";
import type { Model } from "../../src/ir/index.js";
import { targetNames } from "../../src/target/find-target.js";
import { integerTarget, integerTargetNamed } from "../../src/target/integer-kernels.js";
import { errorOf, opsOf, optimizedByRuntime, quantizeText, safeTarget } from "../support/quantize-text.js";

/** What is left of a graph, but for what only moves elements between layouts. */
const kernelsOf = (model: Model): string[] => opsOf(model).filter((op) => op !== "Transpose");

const isFloatBoundary = (op: string): boolean => op === "QuantizeLinear" || op === "DequantizeLinear";

const image = (
  body: string,
  convolution = "f32[8,8,1,1]",
  more = "",
): string => `(x: f32[1,8,4,4]${more && `, ${more}`}) -> (y) {
  a = Conv(x, $w: ${convolution}, $b: f32[8])
  ${body}
  y = Conv(n, $w2: f32[8,8,1,1])
}`;
const headed = (body: string): string => `(x: f32[1,8,4,4]) -> (y) {
  a = Conv(x, $w: f32[8,8,1,1], $b: f32[8])
  ${body}
  y = Gemm(n, $w2: f32[8,4])
}`;
const rows = (body: string): string => `(x: f32[1,16]) -> (y) {
  a = MatMul(x, $w: f32[16,8])
  ${body}
  y = MatMul(n, $w2: f32[8,4])
}`;

/** For each operator a graph, and the kernel that is to come of it; null for one that merely moves integers. */
const confirmed: Readonly<Record<string, readonly (readonly [text: string, kernel: string | null])[]>> = {
  Conv: [
    [image("n = Relu(a)"), "QLinearConv"],
    [image("n = Clip(a, $l: f32[] = {0}, $h: f32[] = {0.3})"), "QLinearConv"],
    [image("n = Clip(a, $l: f32[] = {-0.3}, $h: f32[] = {0.3})"), "QLinearConv"],
    ["(x: f32[1,4,9]) -> (y) { y = Conv(x, $w: f32[8,4,3]) }", "QLinearConv"],
    ["(x: f32[1,4,5,5,5]) -> (y) { y = Conv(x, $w: f32[8,4,3,3,3], $b: f32[8]) }", "QLinearConv"],
    ["(x: f32[1,8,5,5]) -> (y) { y = Conv<group=8>(x, $w: f32[8,1,3,3], $b: f32[8]) }", "QLinearConv"],
  ],
  ConvTranspose: [
    [image("n = ConvTranspose<strides=[2,2]>(a, $t: f32[8,8,2,2], $d: f32[8])"), "QLinearConv"],
    ["(x: f32[1,8,9]) -> (y) { y = ConvTranspose<strides=[2], pads=[1,1]>(x, $w: f32[8,4,4]) }", "QLinearConv"],
  ],
  MatMul: [
    ["(x: f32[2,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }", "MatMulIntegerToFloat"],
    ["(x: f32[2,3,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }", "MatMulIntegerToFloat"],
    [rows("n = Relu(a)"), "QLinearMatMul"],
    [image("n = MatMul(a, a)"), "QLinearMatMul"],
  ],
  Gemm: [
    ["(x: f32[2,16]) -> (y) { y = Gemm(x, $w: f32[16,8], $b: f32[8]) }", "QGemm"],
    ["(x: f32[2,16]) -> (y) { y = Gemm<transB=1>(x, $w: f32[8,16], $b: f32[1,8]) }", "QGemm"],
    ["(x: f32[2,16]) -> (y) { a = Gemm(x, $w: f32[16,8])\n r = Relu(a)\n y = Gemm(r, $w2: f32[8,4]) }", "QGemm"],
  ],
  Add: [
    [image("n = Add(a, a)"), "QLinearAdd"],
    [image("s = Add(a, a)\n n = Relu(s)"), "QLinearAdd"],
    [rows("b = MatMul(x, $w3: f32[16,8])\n s = Add(a, b)\n n = Relu(s)"), "QLinearAdd"],
  ],
  Mul: [
    [image("s = Sigmoid(a)\n n = Mul(a, s)"), "QLinearMul"],
    [image("n = Mul($c: f32[] = {0.7}, a)"), null],
  ],
  Div: [[image("n = Div(a, $c: f32[1] = {4})"), null]],
  Concat: [[image("n = Concat<axis=2>(a, a)"), "QLinearConcat"]],
  Sigmoid: [[image("n = Sigmoid(a)"), "QLinearSigmoid"]],
  Softmax: [[image("n = Softmax<axis=-1>(a)"), "QLinearSoftmax"]],
  Where: [[image("c = Conv(x, $v: f32[8,8,1,1])\n n = Where(k, a, c)", undefined, "k: bool[4]"), "QLinearWhere"]],
  LeakyRelu: [[image("n = LeakyRelu<alpha=0.1>(a)"), "QLinearLeakyRelu"]],
  AveragePool: [
    [image("n = AveragePool<kernel_shape=[2,2], strides=[2,2]>(a)"), "QLinearConv"],
    [image("n = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(a)"), "QLinearAveragePool"],
  ],
  GlobalAveragePool: [[image("n = GlobalAveragePool(a)"), "QLinearGlobalAveragePool"]],
  ReduceMean: [
    [image("n = ReduceMean<axes=[2,3]>(a)"), "QLinearGlobalAveragePool"],
    [image("n = ReduceMean<axes=[-1,-2]>(a)"), "QLinearGlobalAveragePool"],
    [headed("n = ReduceMean<axes=[2,3], keepdims=0>(a)"), "QLinearGlobalAveragePool"],
  ],
  MaxPool: [[image("n = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a)"), null]],
  Reshape: [
    [image("n = Reshape(a, $s: i64[4] = {0,8,2,8})"), null],
    [rows("n = Reshape(a, $s: i64[3] = {1,1,8})"), null],
  ],
  Transpose: [[image("n = Transpose<perm=[0,1,3,2]>(a)"), null]],
  Squeeze: [[rows("u = Reshape(a, $s: i64[3] = {1,1,8})\n n = Squeeze(u, $ax: i64[1] = {0})"), null]],
  Unsqueeze: [[rows("n = Unsqueeze(a, $ax: i64[1] = {0})"), null]],
  Flatten: [[rows("n = Flatten(a)"), null]],
  Slice: [[image("n = Slice(a, $s: i64[1] = {1}, $e: i64[1] = {3}, $ax: i64[1] = {2})"), null]],
  Split: [[image("p, q = Split<axis=2>(a, $s: i64[2] = {2,2})\n n = Add(p, q)"), null]],
  Gather: [[image("n = Gather<axis=2>(a, $i: i64[2] = {0,3})"), null]],
  Tile: [[image("n = Tile(a, $r: i64[4] = {1,1,2,1})"), null]],
  ReduceMax: [[image("n = ReduceMax<axes=[2]>(a)"), null]],
  DepthToSpace: [[image("c = Conv(a, $d: f32[32,8,1,1])\n n = DepthToSpace<blocksize=2>(c)"), null]],
  Resize: [[image('n = Resize<mode="nearest">(a, _, $s: f32[4] = {1,1,2,2})'), null]],
};

describe("the table of the cpu", () => {
  it("names no operator that is not confirmed below", () => {
    expect(Object.keys(confirmed).sort()).toEqual(Object.keys(safeTarget.kernels).sort());
  });

  for (const [op, cases] of Object.entries(confirmed)) {
    it.each(cases.map(([text, kernel]) => ({ text, kernel })))(`${op}: $text`, async ({ text, kernel }) => {
      const { float, model, plan, feeds } = await quantizeText(text);
      expect(plan.nodes.map(({ node }) => node.op)).toContain(op);
      const kernels = kernelsOf(await optimizedByRuntime(model));
      if (kernel) expect(kernels).toContain(kernel);
      // Integers begin at the input, end at the output, and nothing between them is float.
      const inner = kernels.slice(1, kernels.at(-1) === "DequantizeLinear" ? -1 : undefined);
      const hasFloatClip = text.includes("Clip") && text.includes("{-0.3}");
      if (!hasFloatClip) expect(inner.filter(isFloatBoundary)).toEqual([]);
      expect(kernels[0]).toBe("QuantizeLinear");
      expect(await errorOf(float, model, feeds)).toBeLessThan(0.06);
    });
  }
});

/** Operators that the header of the table says stay float: a pair around them gains nothing. */
describe("what stays float", () => {
  it.each([
    "n = Tanh(a)",
    "n = HardSwish(a)",
    "n = Erf(a)",
    "n = Sub(a, a2)",
    "n = Div(a, a2)",
    "n = ReduceMean<axes=[2,3]>(a)",
    "n = Max(a, a2)",
    'n = Resize<mode="linear">(a, _, $s: f32[4] = {1,1,2,2})',
    "n = Pad(a, $p: i64[8] = {0,0,1,1,0,0,1,1})",
  ])("%s", async (body) => {
    const { model } = await quantizeText(image(`a2 = Relu(a)\n ${body}`));
    expect(
      kernelsOf(await optimizedByRuntime(model))
        .slice(1, -1)
        .filter(isFloatBoundary),
    ).not.toEqual([]);
  });
});

describe("integerTarget", () => {
  it("knows where sums of pairs saturate: x86 without VNNI", () => {
    const named = (architecture: string, flags: readonly string[]): [string, boolean] => {
      const { name, saturatesPairs } = integerTarget("cpu", architecture, flags);
      return [name, saturatesPairs];
    };
    expect(named("x64", ["avx2"])).toEqual(["ort-cpu-avx2", true]);
    expect(named("x64", ["avx2", "avx512_vnni"])).toEqual(["ort-cpu-vnni", false]);
    expect(named("x64", ["avx2", "avx_vnni"])).toEqual(["ort-cpu-vnni", false]);
    expect(named("arm64", ["asimd"])).toEqual(["ort-cpu-arm64", false]);
    expect(named("arm64", ["asimd", "asimddp"])).toEqual(["ort-cpu-arm64-dot", false]);
    // Of a processor of which nothing is known, nothing bad is assumed.
    expect(named("x64", [])).toEqual(["ort-cpu", false]);
  });

  it("knows providers other than the cpu", () => {
    expect(integerTarget("cuda", "x64", ["avx2"])).toMatchObject({ kernels: {}, saturatesPairs: false });
    expect(integerTarget("tensorrt", "x64", ["avx2"])).toMatchObject({ activations: "i8", isMeasurable: false });
  });

  it("is found by the name that --target takes; ort-cpu is this machine's", () => {
    const here = integerTarget("cpu", "x64", ["avx2"]);
    expect(integerTargetNamed("ort-cpu@1.20", here)).toBe(here);
    expect(integerTargetNamed("ort-cpu-vnni", here).saturatesPairs).toBe(false);
    for (const name of targetNames) {
      const target = integerTargetNamed(name, here);
      // What was not measured names what it follows.
      if (!target.isMeasurable) expect(target.sources.join()).toMatch(/^https:/);
    }
  });
});
