import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { errorOf, opsOf, quantizeText, relativeError } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** Behind an integer product, and in front of another. */
const between = (depth: number, block: number, mode = "DCR", size = "2,4,5,6"): string => `(x: f32[${size}]) -> (y) {
  a = Conv(x, $w: f32[${depth},4,1,1], $b: f32[${depth}])
  r = DepthToSpace<blocksize=${block}, mode="${mode}">(a)
  y = Conv(r, $v: f32[5,${depth / block ** 2},1,1])
}`;
/** At the end. */
const last = (depth: number, block: number): string => `(x: f32[2,4,5,6]) -> (y) {
  a = Conv(x, $w: f32[${depth},4,1,1], $b: f32[${depth}])
  y = DepthToSpace<blocksize=${block}>(a)
}`;

describe("spreadIntegers", () => {
  it.each([
    ["between products", between(16, 2)],
    ["of larger blocks", between(36, 3)],
    ["of rows of two", between(4, 2)],
    ["of rows of four", between(8, 2)],
    ["of free sizes", between(16, 2, "DCR", "N,4,H,W")],
    ["at the end", last(32, 4)],
  ])("moves rows of channels %s", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("DepthToSpace");
    expect(opsOf(model).filter((op) => op === "Transpose")).toHaveLength(3);
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("leaves one pair of conversions for what reads floats behind", async () => {
    const ops = opsOf((await quantizeText(last(32, 4))).model);
    expect(ops.slice(-6)).toEqual(["Transpose", "Reshape", "Transpose", "Reshape", "Transpose", "DequantizeLinear"]);
  });

  it("writes integer operators around", async () => {
    const { float, model, feeds } = await quantizeText(between(16, 2));
    toIntegerOperators(model);
    expect(opsOf(model)).not.toContain("DepthToSpace");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it.each([
    ["of the other order", between(16, 2, "CRD")],
    ["of rows of three", last(9, 3)],
    ["of rows of six", last(12, 2)],
    [
      "that floats are read beside",
      last(16, 2).replace("-> (y)", "-> (y, z)").replace("(a)\n}", "(a)\n z = Softmax<axis=1>(a)\n}"),
    ],
  ])("leaves one %s", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).toContain("DepthToSpace");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });
});
