import { describe, expect, it } from "vitest";
import { check, Tensor } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { withZeroChannels } from "../../src/quantization/pad-channels.js";
import type { IntegerTarget } from "../../src/target/integer-kernel.js";
import { vnniRates } from "../../src/target/kernel-rates.js";
import { kernelTimesBy } from "../../src/target/kernel-times.js";
import {
  errorOf,
  opsOf,
  optimizedByRuntime,
  quantizeText,
  relativeError,
  safeTarget,
} from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const padding: IntegerTarget = { ...safeTarget, times: kernelTimesBy(vnniRates) };

const stem = (depth: number, more = ""): string => `(x: f32[2,${depth},24,24]) -> (y) {
  a = Conv<pads=[1,1,1,1]>(x, $w: f32[16,${depth},3,3], $b: f32[16])
  r = Relu(a)
  ${more}
  y = Conv(r, $v: f32[4,16,1,1])
}`;

describe("padImage", () => {
  it.each([1, 3])("adds channels to the integers of an image of %i, and changes no result", async (depth) => {
    const { model, feeds } = await quantizeText(stem(depth), {}, padding);
    const own = await quantizeText(stem(depth));
    check(model.graph);
    expect(opsOf(own.model)).not.toContain("Pad");
    // Nobody reads the image without them any more.
    expect(opsOf(model).length).toBe(opsOf(own.model).length + 1);
    const pad = [...model.graph.nodes()].find((node) => node.is("Pad"))!;
    expect(pad.inputs[0]!.producer?.op).toBe("QuantizeLinear");
    expect(pad.output.shape).toEqual([2, 4, 24, 24]);
    expect(relativeError(await runModel(own.model, feeds), await runModel(model, feeds))).toBe(0);
  });

  it("leaves the convolution to the integer kernel", async () => {
    const { float, model, feeds } = await quantizeText(stem(1), {}, padding);
    const ops = opsOf(await optimizedByRuntime(model));
    expect(ops.filter((op) => op === "QLinearConv")).toHaveLength(2);
    expect(ops).not.toContain("Conv");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("serves two convolutions of one image, each with its own", async () => {
    const text = `(x: f32[1,1,24,24]) -> (y) {
      a = Conv<pads=[1,1,1,1]>(x, $w: f32[16,1,3,3])
      b = Conv<pads=[2,2,2,2]>(x, $u: f32[16,1,5,5])
      c = Conv(x, $t: f32[16,1,1,1])
      s = Add(a, b)
      y = Add(s, c)
    }`;
    const { model, feeds } = await quantizeText(text, {}, padding);
    const own = await quantizeText(text);
    expect(opsOf(model)).toContain("Pad");
    expect(relativeError(await runModel(own.model, feeds), await runModel(model, feeds))).toBe(0);
  });

  it("goes into the integer operators of ai.onnx too", async () => {
    const { model, feeds } = await quantizeText(stem(1), {}, padding);
    const { model: operators } = await quantizeText(stem(1), {}, padding);
    expect(toIntegerOperators(operators)).toBe(2);
    expect(opsOf(operators)).toEqual(expect.arrayContaining(["QuantizeLinear", "Pad", "QLinearConv"]));
    expect(opsOf(operators)).not.toContain("Conv");
    expect(relativeError(await runModel(model, feeds), await runModel(operators, feeds))).toBeLessThan(0.03);
  });
});

describe("withZeroChannels", () => {
  it("appends zeros to each filter", () => {
    const weight = Tensor.ofArray("i8", [2, 1, 1, 2], Int8Array.of(1, -2, 3, -4));
    const wider = withZeroChannels(weight, 3);
    expect(wider.dims).toEqual([2, 3, 1, 2]);
    expect(wider.integers()).toEqual([1, -2, 0, 0, 0, 0, 3, -4, 0, 0, 0, 0]);
  });
});
