import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import {
  errorOf,
  opsOf,
  optimizedByRuntime,
  quantizeText,
  relativeError,
  safeTarget,
} from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const between = (pool: string, size = "9,10", channels = 6, behind = "r = Relu(p)"): string => {
  const ones = size.split(",").map(() => "1");
  return `(x: f32[2,4,${size}]) -> (y) {
    a = Conv(x, $w: f32[${channels},4,${ones}], $b: f32[${channels}])
    p = AveragePool<${pool}>(a)
    ${behind}
    y = Conv(r, $v: f32[5,${channels},${ones}])
  }`;
};

describe("meanConvs", () => {
  it.each([
    ["halves", between("kernel_shape=[2,2], strides=[2,2]")],
    ["windows over the sides", between("kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1")],
    ["uneven sides", between("kernel_shape=[3,2], strides=[2,1], pads=[1,0,0,1], count_include_pad=1")],
    ["a line", between("kernel_shape=[4], strides=[2]", "13")],
    ["one channel", between("kernel_shape=[2,2]", "9,10", 1)],
    ["whole vectors of channels", between("kernel_shape=[5,5]", "9,10", 16)],
    ["what a MaxPool reads", between("kernel_shape=[2,2]", "9,10", 6, "r = MaxPool<kernel_shape=[1,2]>(p)")],
    ["two windows", between("kernel_shape=[2,2]", "9,10", 6, "r = AveragePool<kernel_shape=[1,3]>(p)")],
    ["two pools alike", between("kernel_shape=[2,2]", "9,10", 6, "r = AveragePool<kernel_shape=[2,2]>(p)")],
  ])("computes the mean of %s as the pool does", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(opsOf(model)).not.toContain("AveragePool");
    expect((await optimizedByRuntime(model)).graph.nodes()).toSatisfy((nodes: Iterable<{ op: string }>) =>
      [...nodes].every(({ op }) => !op.includes("AveragePool")),
    );
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
    toIntegerOperators(model);
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("keeps the node's name and the value's label, and rounds no weight", async () => {
    const { plan, model } = await quantizeText(between("kernel_shape=[3,3]"));
    const conv = [...model.graph.nodes()].find((node) => node.int("group", 1) > 1)!;
    expect(plan.nodes.map(({ node }) => node.name)).toContain(conv.name);
    const [integers, scale] = conv.inputs[1]!.producer!.inputs.map((value) => value?.constant);
    expect(new Set(integers!.integers())).toEqual(new Set([127]));
    expect(scale!.f32()[0]! * 127).toBeCloseTo(1 / 9, 7);
  });

  it.each([
    ["windows of elements and padding", between("kernel_shape=[3,3], pads=[1,1,1,1]"), undefined],
    ["another target", between("kernel_shape=[2,2]"), integerTargetNamed("openvino", safeTarget)],
  ])("leaves %s", async (_, text, target) => {
    const { model } = await quantizeText(text, {}, target);
    expect(opsOf(model)).toContain("AveragePool");
  });
});
