import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { errorOf, opsOf, optimizedByRuntime, quantizeText, relativeError } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** Between two integer products. */
const between = (attributes: string, inputs: string, size = "5,6", before = "i = Relu(a)"): string => {
  const ones = size
    .split(",")
    .map(() => "1")
    .join(",");
  return `(x: f32[2,4,${size}]) -> (y) {
    a = Conv(x, $w: f32[8,4,${ones}], $b: f32[8])
    ${before}
    r = Resize<${attributes}>(i, ${inputs})
    y = Conv(r, $v: f32[5,8,${ones}])
  }`;
};
const scales = (...values: number[]): string => `_, $s: f32[${values.length}] = {${values.map((v) => v.toFixed(2))}}`;
const FLOOR = 'mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"';

describe("repeatIntegers", () => {
  it.each([
    ["both axes", between(FLOOR, scales(1, 1, 2, 2))],
    ["more often along one", between(FLOOR, scales(1, 1, 3, 2))],
    ["one axis alone", between(FLOOR, scales(1, 1, 1, 4))],
    ["the other alone", between(FLOOR, scales(1, 1, 3, 1))],
    ["a line", between(FLOOR, scales(1, 1, 3), "7")],
    ["half a pixel", between('mode="nearest"', scales(1, 1, 4, 3))],
    ["half a pixel up", between('mode="nearest", nearest_mode="round_prefer_ceil"', scales(1, 1, 3, 2))],
    ["half a pixel of PyTorch", between('coordinate_transformation_mode="pytorch_half_pixel"', scales(1, 1, 2, 3))],
    ["the nearest of two", between('coordinate_transformation_mode="asymmetric"', scales(1, 1, 2, 2))],
    ["sizes", between(FLOOR, "_, _, $z: i64[4] = {2,8,15,12}")],
    ["what a pool makes", between(FLOOR, scales(1, 1, 2, 2), "5,6", "i = MaxPool<kernel_shape=[2,2]>(a)")],
    [
      "what is joined",
      between(FLOOR, scales(1, 1, 2, 2), "5,6", "j = LeakyRelu(a)\n c = Concat<axis=2>(a, j)\n i = Sigmoid(c)"),
    ],
    ["what is added", between(FLOOR, scales(1, 1, 2, 2), "5,6", "j = Conv(x, $u: f32[8,4,1,1])\n i = Add(a, j)")],
  ])("copies rows of channels for %s", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("Resize");
    expect(opsOf(model)).toContain("Concat");
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each(["1,4,5,W", "N,4,H,6", "N,4,H,W"])("finds out sizes that are free: %s", async (shape) => {
    const text = between(FLOOR, scales(1, 1, 2, 3)).replace("2,4,5,6", shape);
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("Resize");
    expect(opsOf(model)).toContain("Shape");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("serves several readers, and an output of the model", async () => {
    const text = `(x: f32[2,4,5,6]) -> (y, r) {
      a = Conv(x, $w: f32[8,4,1,1])
      r = Resize<${FLOOR}>(a, ${scales(1, 1, 2, 2)})
      b = Conv(r, $v: f32[8,8,1,1])
      c = Add(r, b)
      y = Conv(c, $u: f32[3,8,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("Resize");
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["y", "r"]);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("leaves no Transpose around the copies", async () => {
    const { model } = await quantizeText(between(FLOOR, scales(1, 1, 2, 2)));
    const ops = opsOf(await optimizedByRuntime(model));
    expect(ops.filter((op) => op === "QLinearConv")).toHaveLength(2);
    expect(ops.filter((op) => op === "Concat")).toHaveLength(2);
    expect(ops.filter((op) => op === "Transpose")).toHaveLength(2);
    expect(ops).not.toContain("Resize");
  });

  it("goes into the integer operators of ai.onnx too", async () => {
    const text = between(FLOOR, scales(1, 1, 2, 2));
    const [{ model, feeds }, { model: operators }] = [await quantizeText(text), await quantizeText(text)];
    expect(toIntegerOperators(operators)).toBe(2);
    expect(relativeError(await runModel(model, feeds), await runModel(operators, feeds))).toBeLessThan(0.03);
  });

  it("leaves what a model has pairs of its own behind, by another scale", async () => {
    const text = `(x: f32[2,4,5,6]) -> (y) {
      a = Conv(x, $w: f32[8,4,1,1])
      r = Resize<${FLOOR}>(a, ${scales(1, 1, 2, 2)})
      q = QuantizeLinear(r, $t: f32[] = {0.05}, $z: u8[] = {90})
      d = DequantizeLinear(q, $t, $z)
      y = Conv(d, $v: f32[5,8,1,1])
    }`;
    const { float, model, feeds } = await quantizeText(text);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each([
    ["a ratio that is not whole", between(FLOOR, scales(1, 1, 1.5, 2))],
    ["smaller sizes", between(FLOOR, scales(1, 1, 0.5, 2))],
    ["the nearest of three", between('coordinate_transformation_mode="asymmetric"', scales(1, 1, 3, 3))],
    ["corners", between('coordinate_transformation_mode="align_corners"', scales(1, 1, 2, 2))],
    ["half a pixel down", between('nearest_mode="floor"', scales(1, 1, 2, 2))],
    ["channels that are not last", between(FLOOR, scales(1, 1, 2, 2), "8,8", "i = Transpose<perm=[0,2,1,3]>(a)")],
  ])("leaves %s to the kernel", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).toContain("Resize");
    expect(opsOf(model)).not.toContain("Concat");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });
});
