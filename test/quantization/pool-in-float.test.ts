import { describe, expect, it } from "vitest";
import { type Model, Tensor } from "../../src/ir/index.js";
import { activationsOf, insertQdq } from "../../src/quantization/insert-qdq.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import { schemeOf } from "../../src/quantization/scheme.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import { errorOf, opsOf, optimizedByRuntime, prepared, quantizeText, safeTarget } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** A float Conv and a pool in front of integers, with something between that a pool may not change places with. */
const stem = (pool: string, behind = "", outputs = "y"): string => `(x: f32[1,3,16,16]) -> (${outputs}) {
  a = Conv(x, $w: f32[16,3,3,3], $b: f32[16])
  s = Sigmoid(a)
  m = Mul(a, s)
  p = MaxPool<${pool}>(m)
  ${behind}
  y = Conv(${behind === "" ? "p" : "r"}, $v: f32[16,16,1,1])
}`;
const halves = "kernel_shape=[2,2], strides=[2,2]";
const moved = `t = Transpose<perm=[0,1,3,2]>(p)
  r = Slice(t, $from: i64[1] = {0}, $to: i64[1] = {6}, $axis: i64[1] = {2})`;
const keepFloat = new Map([["Conv:a", "asked for"]]);

const poolsOf = ({ graph }: Model) => [...graph.nodes()].filter(({ op }) => op.includes("MaxPool"));
const readByPools = (model: Model) => poolsOf(model).map(({ inputs: [value] }) => value!.producer?.op ?? "an input");
const integersOf = async (model: Model, feeds: Parameters<typeof runModel>[1]) => {
  const quantize = [...model.graph.nodes()].find(({ op }) => op === "QuantizeLinear")!;
  model.graph.addOutput("integers", quantize.output);
  return (await runModel(model, feeds))["integers"]!;
};

describe("keepPoolsFloat", () => {
  it.each([
    ["a pool", stem(halves)],
    ["overlapping windows", stem("kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]")],
    ["what is moved behind it", stem(halves, moved)],
    [
      "what the model is given",
      `(x: f32[1,3,16,16]) -> (y) {
      p = MaxPool<${halves}>(x)
      y = Conv(p, $v: f32[16,3,1,1])
    }`,
    ],
  ])("has the runtime pool floats: %s", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text, { keepFloat });
    const pool = poolsOf(model)[0]!;
    expect(pool.output.label).toBe("p/pooled");
    expect(pool.output.uses.map((use) => use.kind === "input" && use.node.op)).toEqual(["Clip"]);
    expect(readByPools(await optimizedByRuntime(model))).not.toContain("QuantizeLinear");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("makes the same integers, and those of what is beyond their range", async () => {
    const [made, plain] = await Promise.all([
      quantizeText(stem(halves), { keepFloat }),
      quantizeText(stem(halves), { keepFloat }),
    ]);
    const { graph } = plain.model;
    const clip = [...graph.nodes()].find(({ op }) => op === "Clip")!;
    graph.replaceUses(clip.output, clip.inputs[0]!);
    graph.removeNode(clip);
    // Twice what ranges were taken from.
    const { x } = made.feeds;
    const feeds = {
      x: Tensor.f32(
        x!.dims,
        x!.f32().map((value) => 2 * value),
      ),
    };
    const [ours, theirs] = [await integersOf(made.model, feeds), await integersOf(plain.model, feeds)];
    expect(ours.bytes()).toEqual(theirs.bytes());
    expect(ours.bytes()).toContain(255);
  });

  it("cuts nothing off that is rounded to another integer, of either kind", async () => {
    const i8 = { ...safeTarget, activations: "i8" as const };
    for (const target of [safeTarget, i8]) {
      const { model } = await quantizeText(stem(halves), { keepFloat }, target);
      const clip = [...model.graph.nodes()].find(({ op }) => op === "Clip")!;
      const quantize = [...model.graph.nodes()].find(({ op }) => op === "QuantizeLinear")!;
      const { scale, zeroPoint } = schemeOf(quantize)!;
      const [least, most] = clip.inputs.slice(1).map((value) => value!.constant!.f32()[0]! / scale + zeroPoint);
      const [first, last] = target === i8 ? [-128, 127] : [0, 255];
      // Less than half a step, and more than what the runtime takes for the range itself.
      expect(least).toBeCloseTo(first! + 0.25, 3);
      expect(most).toBeCloseTo(last! - 0.25, 3);
    }
  });

  it.each([
    ["a Reshape", "r = Reshape(p, $shape: i64[4] = {1, 16, 14, 3})"],
    ["an Unsqueeze and a Squeeze", "t = Unsqueeze(p, $axis: i64[1] = {2})\n r = Squeeze(t, $axis)"],
  ])("looks through %s", async (_, behind) => {
    const text = stem("kernel_shape=[1,3], strides=[1,4]", behind);
    const { model } = await quantizeText(text, { keepFloat });
    expect(poolsOf(model)[0]!.output.label).toBe("p/pooled");
  });

  it.each(["u16", "i16"])("leaves pools in front of integers that were there before, of %s", async (dtype) => {
    const text = `(x: f32[1,3,16,16]) -> (y, q) {
      a = Conv(x, $w: f32[16,3,1,1])
      y = Relu(a)
      p = MaxPool<kernel_shape=[2,2]>(x)
      q = QuantizeLinear(p, $s: f32 = {0.001}, $z: ${dtype} = {0})
    }`;
    const model = await prepared(text, 21);
    const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    const schemes = new Map(activationsOf(plan).map(({ label }) => [label, { scale: 0.05, zeroPoint: 128 }]));
    insertQdq(model, plan, schemes, safeTarget);
    expect(opsOf(model)).not.toContain("Clip");
  });

  it.each([
    ["a pool between integers", stem(halves), {}, safeTarget],
    [
      "an activation that changes places with the pool",
      stem(halves).replace("m = Mul(a, s)", "m = Relu(s)"),
      { keepFloat },
      safeTarget,
    ],
    [
      "what others read in float",
      stem(halves, "r = Slice(p, $from: i64[1] = {0}, $to: i64[1] = {6}, $axis: i64[1] = {2})\n z = Abs(p)", "y, z"),
      { keepFloat },
      safeTarget,
    ],
    ["a result of the model", stem(halves, "", "y, p"), { keepFloat }, safeTarget],
    ["a runtime that moves nothing", stem(halves), { keepFloat }, integerTargetNamed("tensorrt", safeTarget)],
  ])("leaves %s", async (_, text, options, target) => {
    const { model } = await quantizeText(text, options, target);
    expect(opsOf(model)).not.toContain("Clip");
    if (!target.isMeasurable) return;
    expect(readByPools(await optimizedByRuntime(model)).filter((op) => op === "QuantizeLinear")).toEqual([]);
  });
});
