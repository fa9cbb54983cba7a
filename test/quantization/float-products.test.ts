import { describe, expect, it } from "vitest";
import type { Model } from "../../src/ir/index.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import { opsOf, optimizedByRuntime, quantizeText, relativeError, safeTarget } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** Products around one that stays float. */
const between = (product: string, behind = ""): string => `(x: f32[1,16,6,6]) -> (y) {
  a = Conv(x, $w: f32[16,16,1,1], $b: f32[16])
  s = Relu(a)
  ${product}
  ${behind}
  y = Conv(${behind ? "r" : "p"}, $u: f32[16,16,1,1])
}`;
const keepFloat = new Map([
  ["Conv:p", "asked for"],
  ["ConvTranspose:p", "asked for"],
  ["Gemm:p", "asked for"],
]);
const CONV = "p = Conv<pads=[1,1,1,1]>(s, $v: f32[16,16,3,3], $c: f32[16])";

/** Products that the runtime computes in float. */
const floatProducts = (model: Model): number => opsOf(model).filter((op) => /^(Fused)?(Conv|Gemm)$/.test(op)).length;
const readsWidened = ({ graph }: Model): boolean =>
  [...graph.nodes()].some(
    ({ op, inputs }) => /^(Fused)?(Conv|Gemm)/.test(op) && inputs[1]?.producer?.is("DequantizeLinear"),
  );

describe("keepProductsFloat", () => {
  it.each([
    ["a Conv", CONV, ""],
    ["a Conv with a Relu", CONV, "r = Relu(p)"],
    ["a Conv with a Clip", CONV, "r = Clip(p, $low: f32[] = {0}, $high: f32[] = {6})"],
    ["a Conv without a bias", "p = Conv<pads=[1,1,1,1]>(s, $v: f32[16,16,3,3])", "r = Relu(p)"],
    ["a Conv in groups", "p = Conv<pads=[1,1,1,1], group=16>(s, $v: f32[16,1,3,3], $c: f32[16])", "r = Relu(p)"],
    ["a ConvTranspose", "p = ConvTranspose(s, $v: f32[16,16,1,1], $c: f32[16])", ""],
  ])("has the runtime leave the weights of %s alone", async (_, product, behind) => {
    const { model } = await quantizeText(between(product, behind), { keepFloat });
    const optimized = await optimizedByRuntime(model);
    expect(opsOf(optimized).filter((op) => op === "QLinearConv")).toHaveLength(2);
    expect(readsWidened(optimized)).toBe(false);
  });

  it.each([
    ["", "$v: f32[16,12]"],
    ["<transB=1>", "$v: f32[12,16]"],
  ])("does so with a Gemm%s", async (attributes, weight) => {
    const { model } = await quantizeText(
      `(x: f32[3,16]) -> (y) {
        a = Gemm(x, $w: f32[16,16], $b: f32[16])
        p = Gemm${attributes}(a, ${weight}, $c: f32[12])
        r = Relu(p)
        y = Gemm(r, $u: f32[12,8], $d: f32[8])
      }`,
      { keepFloat },
    );
    const optimized = await optimizedByRuntime(model);
    expect(floatProducts(optimized)).toBe(1);
    expect(readsWidened(optimized)).toBe(false);
  });

  it("computes what it did", async () => {
    const text = between(CONV, "r = Relu(p)");
    const { float, model, feeds } = await quantizeText(text, { keepFloat });
    const [plain, optimized] = [await runModel(model, feeds), await runModel(model, feeds, "all")];
    expect(relativeError(plain, optimized)).toBeLessThan(0.01);
    expect(relativeError(await runModel(float, feeds), plain)).toBeLessThan(0.03);
  });

  it("leaves what the runtime leaves", async () => {
    const scalesOf = (model: Model): number[] =>
      [...model.graph.nodes()].flatMap(({ op, inputs: [input] }) =>
        op === "Conv" && input!.producer?.is("DequantizeLinear")
          ? [input!.producer.inputs[1]!.constant!.elementCount]
          : [],
      );
    // Integers on both sides, floats behind, another activation behind.
    expect(scalesOf((await quantizeText(between(CONV, "r = Relu(p)"))).model)).toEqual([1, 1, 1]);
    const ends = "(x: f32[1,16,6,6]) -> (p) { a = Conv(x, $w: f32[16,16,1,1]) p = Conv(a, $v: f32[16,16,1,1]) }";
    expect(scalesOf((await quantizeText(ends, { keepFloat })).model)).toEqual([1, 1]);
    const tanh = await quantizeText(between(CONV, "r = Tanh(p)"), { keepFloat });
    expect(scalesOf(tanh.model)).toEqual([1, 1, 1]);
  });

  it("leaves it to other runtimes what to make of it", async () => {
    const target = integerTargetNamed("tensorrt", safeTarget);
    const { model } = await quantizeText(between(CONV, "r = Relu(p)"), { keepFloat }, target);
    expect([...model.graph.nodes()].some(({ name }) => name.endsWith("/input/DequantizeLinear"))).toBe(false);
  });
});
