import { describe, expect, it } from "vitest";
import { check, nodesWithin } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { opsOf, optimizedByRuntime, quantizeText, relativeError } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** The operators of the integer form, and how far its results are from those of the pairs, both as the runtime optimizes them. */
async function converted(text: string) {
  const { model: pairs, feeds } = await quantizeText(text);
  const { model } = await quantizeText(text);
  const names = [...nodesWithin(pairs.graph)].map(({ name }) => name);
  toIntegerOperators(model);
  check(model.graph);
  const error = relativeError(await runModel(pairs, feeds, "all"), await runModel(model, feeds, "all"));
  const kernels = async (of: typeof model): Promise<string[]> => opsOf(await optimizedByRuntime(of)).sort();
  return { ops: opsOf(model), error, names, model, kernels: [await kernels(pairs), await kernels(model)] };
}

const ONE_STEP = 0.02;
const QDQ = ["QuantizeLinear", "DequantizeLinear"];

describe("toIntegerOperators", () => {
  it.each([
    ["a Conv", "(x: f32[1,4,6,6]) -> (y) { y = Conv(x, $w: f32[8,4,3,3], $b: f32[8]) }", ["QLinearConv"]],
    [
      "a Conv with a Relu, and what is pooled",
      `(x: f32[1,4,6,6]) -> (y) {
        a = Conv<strides=[1,1]>(x, $w: f32[8,4,3,3])
        r = Relu(a)
        p = MaxPool<kernel_shape=[2,2]>(r)
        y = Conv<group=8>(p, $v: f32[8,1,1,1], $b: f32[8])
      }`,
      ["QLinearConv", "MaxPool", "QLinearConv"],
    ],
    [
      "a Clip that the saturation is",
      `(x: f32[1,4,6,6]) -> (y) {
        a = Conv(x, $w: f32[4,4,1,1])
        c = Clip(a, $l: f32[] = {0}, $h: f32[] = {0.3})
        y = Conv(c, $v: f32[4,4,1,1])
      }`,
      ["QLinearConv", "QLinearConv"],
    ],
    [
      "products in a row, the last with a float result",
      `(x: f32[2,3,16]) -> (y) {
        a = MatMul(x, $w: f32[16,8])
        t = Transpose<perm=[1,0,2]>(a)
        y = MatMul(t, $v: f32[8,4])
      }`,
      ["QLinearMatMul", "Transpose", "MatMulInteger", "Cast", "Mul"],
    ],
    [
      "a Gemm with turned weights and a bias",
      "(x: f32[2,16]) -> (y) { y = Gemm<transB=1>(x, $w: f32[8,16], $b: f32[8]) }",
      ["MatMulInteger", "Cast", "Mul", "Add"],
    ],
  ])("%s", async (_, text, wanted) => {
    const { ops, error } = await converted(text);
    expect(ops.filter((op) => !QDQ.includes(op))).toEqual(wanted);
    expect(error).toBeLessThan(ONE_STEP);
  });

  it("keeps the pairs around what ai.onnx has no integer operator for, and the runtime's kernels stay the same", async () => {
    const { ops, error, kernels } = await converted(`(x: f32[1,8,4,4]) -> (y) {
      a = Conv(x, $w: f32[8,8,1,1])
      s = Sigmoid(a)
      m = Mul(a, s)
      g = Add(m, a)
      y = Conv(g, $v: f32[4,8,1,1], $b: f32[4])
    }`);
    expect(ops.filter((op) => !QDQ.includes(op))).toEqual(["QLinearConv", "Sigmoid", "Mul", "Add", "QLinearConv"]);
    expect(error).toBeLessThan(ONE_STEP);
    expect(kernels[1]).toEqual(kernels[0]);
  });

  it("gives what a Conv makes to all who read it", async () => {
    const { ops, error } = await converted(`(x: f32[1,4,4,4]) -> (y, a) {
      a = Conv(x, $w: f32[4,4,1,1])
      r = Relu(a)
      y = Conv(r, $v: f32[4,4,1,1])
    }`);
    expect(ops).toEqual([
      "QuantizeLinear",
      "QLinearConv",
      "DequantizeLinear",
      "Relu",
      "QuantizeLinear",
      "QLinearConv",
      "DequantizeLinear",
    ]);
    expect(error).toBeLessThan(ONE_STEP);
  });
});
