import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { opsOf, optimizedByRuntime, quantizeText, relativeError } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const between = (scaling: string, behind = ""): string => `(x: f32[2,4,5,6]) -> (y) {
  a = Conv(x, $w: f32[8,4,1,1], $b: f32[8])
  m = ${scaling}
  ${behind}
  y = Conv(${behind ? "r" : "m"}, $v: f32[5,8,1,1])
}`;
const HALF = "Mul(a, $c: f32[] = {0.7})";

describe("foldScalings", () => {
  it.each([
    ["a product", between(HALF)],
    ["a product, the number first", between("Mul($c: f32[1,1] = {3.5}, a)")],
    ["a quotient", between("Div(a, $c: f32[] = {2.5})")],
    ["two in a row", between(HALF, "r = Div(m, $d: f32[] = {3})")],
    ["one in front of what moves elements", between(HALF, "r = Transpose<perm=[0,1,3,2]>(m)")],
    ["one in front of a Resize", between(HALF, 'r = Resize<mode="nearest">(m, _, $s: f32[4] = {1.0,1.0,2.0,2.0})')],
    ["one in front of a LeakyRelu", between(HALF, "r = LeakyRelu(m)")],
    ["one beside another reader", between(HALF, "r = Add(m, a)")],
  ])("leaves %s to the scale", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model).filter((op) => op === "Mul" || op === "Div")).toEqual([]);
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds, "all"))).toBeLessThan(0.03);
  });

  it("rounds nothing and computes nothing", async () => {
    const { model, schemes } = await quantizeText(between(HALF));
    const ops = opsOf(model);
    // The image, what the first Conv makes, and the result.
    expect(ops.filter((op) => op === "QuantizeLinear")).toHaveLength(3);
    expect(opsOf(await optimizedByRuntime(model)).filter((op) => op === "QLinearConv")).toHaveLength(2);
    const [, reader] = [...model.graph.nodes()].filter((node) => node.is("Conv"));
    const [, scale, zeroPoint] = reader!.inputs[0]!.producer!.inputs;
    const own = schemes.get("a")!;
    expect(scale!.constant!.toF32()![0]).toBe(Math.fround(own.scale * Math.fround(0.7)));
    expect(Number(zeroPoint!.constant!.bigints()![0])).toBe(own.zeroPoint);
  });

  it("gives an output of the model what it is", async () => {
    const text = `(x: f32[2,4,5,6]) -> (y, m) {
      a = Conv(x, $w: f32[8,4,1,1])
      m = Mul(a, $c: f32[] = {0.7})
      y = Conv(m, $v: f32[5,8,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("Mul");
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["y", "m"]);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("leaves one that a model has pairs of its own behind, by another scale", async () => {
    const text = `(x: f32[2,4,5,6]) -> (y) {
      a = Conv(x, $w: f32[8,4,1,1])
      m = Mul(a, $c: f32[] = {0.7})
      q = QuantizeLinear(m, $t: f32[] = {0.03}, $z: u8[] = {90})
      d = DequantizeLinear(q, $t, $z)
      y = Conv(d, $v: f32[5,8,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it.each([
    ["below zero", between("Mul(a, $c: f32[] = {-0.7})")],
    ["zero", between("Mul(a, $c: f32[] = {0})")],
    ["next to nothing", between("Mul(a, $c: f32[] = {0.0000001})")],
    ["for each channel", between("Mul(a, $c: f32[8,1,1])")],
    ["that is divided", between("Div($c: f32[] = {2}, a)")],
    ["in front of a Relu", between(HALF, "r = Relu(m)")],
    ["in front of a Clip", between(HALF, "r = Clip(m, $l: f32[] = {0}, $h: f32[] = {1})")],
    ["of more axes", between("Mul(a, $c: f32[1,1,1,1,1] = {0.7})", "r = Squeeze(m, $q: i64[1] = {0})")],
  ])("computes a product with a number %s", async (_, text) => {
    const { model } = await quantizeText(text);
    expect(opsOf(model).filter((op) => op === "Mul" || op === "Div")).toHaveLength(1);
  });
});
