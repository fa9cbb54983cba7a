import { describe, expect, it } from "vitest";
import { check, type Model } from "../../src/ir/index.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import type { IntegerTarget } from "../../src/target/integer-kernel.js";
import { integerTarget } from "../../src/target/integer-kernels.js";
import { errorOf, optimizedByRuntime, quantizeText, relativeError, safeTarget } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const { times: _, ...withoutTimes } = safeTarget;
const withTimes: IntegerTarget = { ...integerTarget("cpu", "x64", ["avx512_vnni"]), saturatesPairs: true };
/** Of the depthwise Convs of a model: how many channels each has. */
const groupsOf = (model: Model): number[] =>
  [...model.graph.nodes()].map((node) => node.int("group", 1)).filter((group) => group > 1);

/** A point, 24 channels by themselves, a point. */
const inverted = (between = "r = Relu(d)", more = "", size = "20,20"): string => `(x: f32[1,16,${size}]) -> (y) {
  a = Conv(x, $w: f32[24,16,1,1], $b: f32[24])
  e = Relu(a)
  d = Conv<group=24, kernel_shape=[5,5], pads=[2,2,2,2]>(e, $k: f32[24,1,5,5], $c: f32[24])
  ${between}
  y = Conv(r, $v: f32[16,24,1,1], $f: f32[16])
  ${more}
}`;
const excited = `p = GlobalAveragePool(d)
  s = Conv(p, $s1: f32[8,24,1,1], $s2: f32[8])
  t = Relu(s)
  u = Conv(t, $u1: f32[24,8,1,1], $u2: f32[24])
  g = HardSigmoid(u)
  r = Mul(d, g)`;
/** What they read is no last product. */
const behind = "z = Conv(y, $last: f32[4,16,1,1])";

const quantized = (text: string, target = withTimes) => quantizeText(text.replace("-> (y)", "-> (z)"), {}, target);

describe("widenChannels", () => {
  it.each([
    ["a depthwise Conv between two points", inverted("r = Relu(d)", behind), [32]],
    ["one without a bias", inverted("r = Relu(d)", behind).replace(", $c: f32[24]", ""), [32]],
    ["activations around it", inverted("h = HardSwish(d)\n r = LeakyRelu<alpha=0.1>(h)", behind), [32]],
    ["numbers for each channel", inverted("h = Mul(d, $m: f32[24,1,1])\n r = Add(h, $n: f32[1,24,1,1])", behind), [32]],
    ["a gate that is computed of it", inverted(excited, behind), [32]],
    [
      "two in a row",
      inverted("q = Relu(d)\n r = Conv<group=24, kernel_shape=[5,5], pads=[2,2,2,2]>(q, $k2: f32[24,1,5,5])", behind),
      [32, 32],
    ],
    ["a pool behind it", inverted("r = MaxPool<kernel_shape=[2,2], strides=[2,2]>(d)", behind), [32]],
    ["a sum with what goes in", inverted("r = Add(d, e)", behind), [32]],
    ["a batch that is not known", inverted("r = Relu(d)", behind).replace("f32[1,", "f32[N,"), [32]],
  ])("gives channels of zeros to %s", async (_, text, groups) => {
    const { float, model, feeds } = await quantized(text);
    const plain = await quantized(text, withoutTimes);
    expect(groupsOf(plain.model)).toEqual(groups.map(() => 24));
    expect(groupsOf(model)).toEqual(groups);
    check(model.graph);
    // Floats are added up in another order, integers are the same bit by bit.
    expect(relativeError(await runModel(plain.model, feeds), await runModel(model, feeds))).toBeLessThan(0.01);
    expect(await errorOf(float, model, feeds)).toBeCloseTo(await errorOf(float, plain.model, feeds), 2);
    for (const value of [...model.graph.nodes()].flatMap(({ outputs }) => outputs))
      if (value?.shape?.length === 4 && value.shape[2] !== 1) expect(value.shape[1]).not.toBe(24);
    toIntegerOperators(model);
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.06);
  });

  it("keeps integer kernels for all Convs, and weights that several read once", async () => {
    const text = inverted(
      "r = Relu(d)",
      "e2 = Conv(y, $w, $b)\n  d2 = Conv<group=24, kernel_shape=[5,5], pads=[2,2,2,2]>(e2, $k, $c)\n  y2 = Conv(d2, $v, $f)\n  z = Conv(y2, $last: f32[4,16,1,1])",
    );
    const { model } = await quantized(text);
    expect(groupsOf(model)).toEqual([32, 32]);
    const weights = model.graph.constants.filter(
      ({ constant }) => constant?.dtype === "i8" && constant.dims.length === 4,
    );
    expect(weights.map(({ shape }) => shape)).toHaveLength(4);
    const ops = [...(await optimizedByRuntime(model)).graph.nodes()].map(({ op }) => op);
    expect(ops.filter((op) => op === "QLinearConv")).toHaveLength(7);
  });

  it("leaves weights that are widened for another Conv, too", async () => {
    const text = inverted("r = Relu(d)", behind)
      .replace(
        "a = Conv(x, $w: f32[24,16,1,1],",
        "w = DequantizeLinear<axis=0>($q: i8[24,16,1,1], $s: f32[24])\n  a = Conv(x, w,",
      )
      .replace("z = Conv(y, $last: f32[4,16,1,1])", "o = Conv(y, w)\n z = Relu(o)");
    const { model, float, feeds } = await quantized(text);
    expect(groupsOf(model)).toEqual([24]);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.06);
  });

  it.each([
    ["channels that fill whole vectors", inverted("r = Relu(d)", behind).replaceAll("24", "32"), [32]],
    ["what makes the answer", inverted("r = Relu(d)", "z = Relu(y)"), [24]],
    ["channels that are an output", inverted("r = Relu(d)", behind).replace("-> (y)", "-> (y, r)"), [24]],
    [
      "channels that are put beside others",
      inverted(
        "q = Concat<axis=1>(d, e)\n r = Slice(q, $o: i64[1] = {0}, $l: i64[1] = {24}, $ax: i64[1] = {1})",
        behind,
      ),
      [24],
    ],
    [
      "channels that a Reshape counts",
      inverted("q = Reshape(d, $o: i64[4] = {0,24,10,40})\n r = Reshape(q, $l: i64[4] = {0,24,20,20})", behind),
      [24],
    ],
    ["numbers for each place", inverted("r = Mul(d, $m: f32[20])", behind), [24]],
    ["what takes longer with more channels than is saved", inverted("r = PRelu(d, $m: f32[24,1,1])", behind), [24]],
    ["what takes longer with more channels than is saved", inverted("r = Softplus(d)", behind), [24]],
    [
      "what is added along another axis than that of its channels",
      inverted("o = Conv(u, $line: f32[24,8,1])\n r = Add(d, o)", behind, "24,20").replace(
        "(x: ",
        "(u: f32[1,8,1], x: ",
      ),
      [24],
    ],
    ["what is divided by what is computed", inverted("n = Add(e, $one: f32 = {1})\n r = Div(d, n)", behind), [24]],
    [
      "channels of the model's input",
      inverted("r = Relu(d)", behind)
        .replace(/a = .*\n.*Relu\(a\)/, "e = Relu(x)")
        .replace("f32[1,16,", "f32[1,24,"),
      [24],
    ],
  ])("leaves %s", async (_, text, groups) => {
    const { model, float, feeds } = await quantized(text);
    expect(groupsOf(model)).toEqual(groups);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.06);
  });
});
