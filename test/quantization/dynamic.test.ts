import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin } from "../../src/ir/index.js";
import { type DynamicOptions, dynamicCandidates, quantizeDynamic } from "../../src/quantization/dynamic.js";
import { errorOf, opsOf, optimizedByRuntime, prepared, safeTarget } from "../support/quantize-text.js";
import { seededFeeds } from "../support/run-model.js";

async function quantized(text: string, options: DynamicOptions = {}) {
  const [float, model] = [await prepared(text), await prepared(text)];
  const report = quantizeDynamic(model, safeTarget, options);
  check(model.graph);
  expect([...nodesWithin(model.graph)].filter(({ domain }) => domain !== "")).toEqual([]);
  return { float, model, report, feeds: seededFeeds(float) };
}

const count = ({ graph }: Model, op: string): number => [...nodesWithin(graph)].filter((node) => node.is(op)).length;
const large = (model: Model): number =>
  model.graph.constants.filter((value) => value.constant!.elementCount >= 64).length;

describe("quantizeDynamic", () => {
  it.each([
    ["a MatMul", "(x: f32[N,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }"],
    ["a MatMul of three axes", "(x: f32[2,N,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }"],
    ["a vector times a matrix", "(x: f32[16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }"],
    ["a Gemm with bias", "(x: f32[N,16]) -> (y) { y = Gemm(x, $w: f32[16,8], $b: f32[8]) }"],
    ["a transposed Gemm with bias", "(x: f32[N,16]) -> (y) { y = Gemm<transB=1>(x, $w: f32[8,16], $b: f32[8]) }"],
    ["a Gemm with a computed bias", "(x: f32[3,16], z: f32[3,8]) -> (y) { y = Gemm(x, $w: f32[16,8], z) }"],
    ["a column of zeros", "(x: f32[N,2]) -> (y) { y = MatMul(x, $w: f32[2,2] = {1,0,-2,0}) }"],
    ["a chain", "(x: f32[N,16]) -> (y) { a = MatMul(x, $w: f32[16,8])\n r = Relu(a)\n y = MatMul(r, $v: f32[8,8]) }"],
    [
      "a value read and returned",
      "(x: f32[N,16]) -> (a, y) { a = MatMul(x, $w: f32[16,8])\n y = MatMul(a, $v: f32[8,8]) }",
    ],
    [
      "weights captured by bodies",
      `(x: f32[3,16], c: bool) -> (y) {
      $w: f32[16,8]
      y = If<then_branch=() -> (t) { t = MatMul(x, $w) }, else_branch=() -> (e) { n = Neg(x)\n e = MatMul(n, $w) }>(c) }`,
    ],
  ])("%s: loads, and is close to float", async (_, text) => {
    const { float, model, report, feeds } = await quantized(text);
    expect(report.quantized.length).toBeGreaterThan(0);
    expect(report.float).toEqual([]);
    expect(count(model, "MatMul") + count(model, "Gemm")).toBe(0);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("becomes the runtime's one kernel", async () => {
    const text = "(x: f32[N,16]) -> (y) { m = MatMul(x, $w: f32[16,8])\n y = Add(m, $b: f32[8]) }";
    const { model } = await quantized(text);
    expect(opsOf(await optimizedByRuntime(model))).toEqual(["DynamicQuantizeMatMul"]);
  });

  it("finds the scale of an activation once for all its readers", async () => {
    const { model } = await quantized(
      "(x: f32[N,16]) -> (y) { a = MatMul(x, $w: f32[16,8])\n b = MatMul(x, $v: f32[16,8])\n y = Add(a, b) }",
    );
    expect(count(model, "DynamicQuantizeLinear")).toBe(1);
  });

  it("stores a weight once that several nodes read, bodies included", async () => {
    const { model } = await quantized(`(x: f32[3,8], c: bool) -> (y) {
      a = MatMul(x, $w: f32[8,8])
      b = MatMul(a, $w)
      y = If<then_branch=() -> (t) { t = MatMul(b, $w) }, else_branch=() -> (e) { e = Neg(b) }>(c) }`);
    expect(large(model)).toBe(1);
  });

  it("keeps the stored and the turned form of one weight apart", async () => {
    const text = "(x: f32[3,8]) -> (y) { a = Gemm(x, $w: f32[8,8])\n y = Gemm<transB=1>(a, $w) }";
    const { float, model, feeds } = await quantized(text);
    expect(large(model)).toBe(2);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("never makes a ConvInteger, and says why", async () => {
    const { model, report } = await quantized("(x: f32[1,2,4,4]) -> (y) { y = Conv(x, $w: f32[2,2,1,1]) }");
    expect(opsOf(model)).toEqual(["Conv"]);
    expect(report).toEqual({
      quantized: [],
      float: [{ node: "Conv:y", op: "Conv", reason: "dynamic integer convolutions are slower than float" }],
    });
  });

  it.each([
    ["MatMul(x, x)", "both factors are activations"],
    ["MatMul($w: f32[4,4], x)", "the weights come first"],
    ["MatMul(x, $w: f32[2,4,4])", "weights that are no matrix"],
    ["Gemm<transA=1>(x, $w: f32[4,4])", "Gemm with transA"],
    ["Gemm<alpha=0.5>(x, $w: f32[4,4])", "Gemm with alpha other than 1"],
    ["Gemm<beta=0.5>(x, $w: f32[4,4], $b: f32[4])", "Gemm with beta other than 1"],
  ])("leaves %s", async (expression, reason) => {
    const { report, model } = await quantized(`(x: f32[4,4]) -> (y) { y = ${expression} }`);
    expect(report.float.map((each) => each.reason)).toEqual([reason]);
    expect(dynamicCandidates(model, safeTarget)).toEqual([]);
  });

  it("leaves nodes that are to stay float", async () => {
    const text = "(x: f32[N,16]) -> (y) { a = MatMul(x, $w: f32[16,8])\n y = MatMul(a, $v: f32[8,8]) }";
    const { report } = await quantized(text, { keepFloat: new Map([["MatMul:a", "said so"]]) });
    expect(report).toEqual({
      quantized: ["MatMul:y"],
      float: [{ node: "MatMul:a", op: "MatMul", reason: "said so" }],
    });
  });
});

describe("rows with scales of their own", () => {
  const perRow = () => true;
  const text = "(x: f32[4,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }";

  /** Rows a thousand times apart in size. */
  async function errorOfUneven(options: DynamicOptions): Promise<number> {
    const uneven = `(x: f32[4,16]) -> (y) {
      small = Mul(x, $s: f32[4,1] = {1,0.1,0.01,0.001})
      m = MatMul(small, $w: f32[16,8])
      y = Div(m, $s)
    }`;
    const { float, model, feeds } = await quantized(uneven, options);
    return errorOf(float, model, feeds);
  }

  it("keep their own accuracy, however small beside others", async () => {
    expect(await errorOfUneven({ perRow })).toBeLessThan(0.02);
    expect(await errorOfUneven({})).toBeGreaterThan(0.2);
  });

  it.each([
    ["a vector", "(x: f32[16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }"],
    ["three axes", "(x: f32[2,N,16]) -> (y) { y = MatMul(x, $w: f32[16,8]) }"],
    ["a transposed Gemm with bias", "(x: f32[N,16]) -> (y) { y = Gemm<transB=1>(x, $w: f32[8,16], $b: f32[8]) }"],
    ["a row of zeros", "(x: f32[2,4]) -> (y) { a = Mul(x, $z: f32[2,1] = {0,1})\n y = MatMul(a, $w: f32[4,3]) }"],
    [
      "a body",
      `(x: f32[3,16], c: bool) -> (y) { $w: f32[16,8]
      y = If<then_branch=() -> (t) { t = MatMul(x, $w) }, else_branch=() -> (e) { n = Neg(x)\n e = MatMul(n, $w) }>(c) }`,
    ],
  ])("%s: loads, and is close to float", async (_, each) => {
    const { float, model, feeds } = await quantized(each, { perRow });
    expect(count(model, "ReduceMax")).toBeGreaterThan(0);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("are measured once for all readers, and apart from readers of the whole", async () => {
    const { model } = await quantized(
      "(x: f32[N,16]) -> (y) { a = MatMul(x, $w: f32[16,8])\n b = MatMul(x, $v: f32[16,8])\n c = MatMul(x, $u: f32[16,8])\n y = Sum(a, b, c) }",
      { perRow: ({ name }) => name !== "MatMul:c" },
    );
    expect([count(model, "ReduceMax"), count(model, "DynamicQuantizeLinear")]).toEqual([1, 2]);
  });

  it("leave the runtime its one kernel", async () => {
    const { model } = await quantized(text, { perRow });
    expect(opsOf(await optimizedByRuntime(model))).toEqual([
      "Abs",
      "ReduceMax",
      "Max",
      "Div",
      "DynamicQuantizeMatMul",
      "Mul",
    ]);
  });

  it("take the axis where the opset has it", async () => {
    const model = await prepared(text, 18);
    quantizeDynamic(model, safeTarget, { perRow });
    check(model.graph);
    await optimizedByRuntime(model);
    expect([...model.graph.nodes()].find((node) => node.is("ReduceMax"))!.inputs).toHaveLength(2);
  });
});
