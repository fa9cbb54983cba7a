import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { makeNamesUnique } from "../../src/quantization/names.js";
import { type PlacementOptions, planStatic } from "../../src/quantization/plan-static.js";
import type { IntegerTarget } from "../../src/target/integer-kernel.js";
import { avx2Rates } from "../../src/target/kernel-rates.js";
import { kernelTimesBy } from "../../src/target/kernel-times.js";
import { safeTarget } from "../support/quantize-text.js";

/** Planned nodes by what they make, and what is quantized behind each. */
/** With a table of kernel times. */
const tabledTarget = { ...safeTarget, times: kernelTimesBy(avx2Rates) };

function planOf(text: string, options: Partial<PlacementOptions> = {}, target: IntegerTarget = safeTarget) {
  const model = parseModel(text);
  makeNamesUnique(model);
  const plan = planStatic(model, target, { neighbours: true, depthwise: true, ...options });
  return {
    nodes: Object.fromEntries(
      plan.nodes.map(({ node, outputs }) => [node.outputs[0]!.label, outputs[0]?.label ?? null]),
    ),
    float: Object.fromEntries(plan.float.map(({ node, reason }) => [node, reason])),
  };
}

const main = (body: string, inputs = "x: f32[4,4]"): string => `(${inputs}) -> (y) {\n ${body} }`;

describe("what is refused, and why", () => {
  it.each([
    ["MatMul(x, z)", "both factors are activations"],
    ["MatMul($w: f32[4,4], x)", "the weights come first"],
    ["MatMul($u: f32[4,4], $w: f32[4,4])", "both factors are constant"],
    ["MatMul(h, $w: f16[4,4])", "weights of type f16"],
    ["MatMul(x, $w: f32[4,0])", "empty weights"],
    ["MatMul(x, $w: f32[2,4,4])", "weights of rank 3"],
    ["MatMul(x, $w: f32[4])", "weights of rank 1"],
    ["Gemm<transA=1>(x, $w: f32[4,4])", "Gemm with transA"],
    ["Gemm<alpha=0.5>(x, $w: f32[4,4])", "Gemm with alpha other than 1"],
    ["Gemm<beta=0.5>(x, $w: f32[4,4], $b: f32[4])", "Gemm with beta other than 1"],
    ["Gemm(x, $w: f32[4,4], z)", "the bias is computed at run time"],
    ["Gemm(x, $w: f32[4,4], $b: f32[1])", "a bias that is not one number per column"],
    ["Gemm(x, $w: f32[4,4], $b: f32[4,1])", "a bias that is not one number per column"],
    ["Conv(i, $w: f32[3,2,1,1], v)", "the bias is computed at run time"],
    ["Conv(k, $w: f32[3,2,1,1,1,1])", "a convolution over 4 axes"],
    ["ConvTranspose<group=2>(i, $w: f32[2,3,1,1])", "the target has no integer ConvTranspose"],
  ])("%s", (expression, reason) => {
    const inputs = "x: f32[4,4], z: f32[4,4], h: f16[4,4], i: f32[1,2,4,4], k: f32[1,2,4,4,4,4], v: f32[3]";
    const { nodes, float } = planOf(main(`y = ${expression}`, inputs));
    expect(nodes).toEqual({});
    expect(Object.values(float)).toEqual([reason]);
  });

  it("a Gemm whose bias is a row is taken", () => {
    expect(planOf(main("y = Gemm(x, $w: f32[4,4], $b: f32[1,4])")).nodes).toEqual({ y: null });
    expect(planOf(main("y = Gemm(x, $w: f32[4,1], $b: f32[])")).nodes).toEqual({ y: null });
  });

  it("nodes in bodies", () => {
    const { nodes, float } = planOf(
      main(
        `y = If<then_branch=() -> (t) { t = MatMul(x, $w: f32[4,4]) }, else_branch=() -> (e) { e = Neg(x) }>(c)`,
        "c: bool, x: f32[4,4]",
      ),
    );
    expect(nodes).toEqual({});
    expect(float).toEqual({ "MatMul:t": "inside a body of If, where no ranges are measured" });
  });

  it("nodes that are to stay float, with the reason given", () => {
    const text = main("a = MatMul(x, $w: f32[4,4])\n y = MatMul(a, $w2: f32[4,4])");
    const { nodes, float } = planOf(text, { keepFloat: new Map([["MatMul:a", "said so"]]) });
    expect(nodes).toEqual({ y: null });
    expect(float).toEqual({ "MatMul:a": "said so" });
  });

  it("depthwise convolutions when they are not wanted", () => {
    const text = main(
      "a = Conv<group=4>(i, $w: f32[4,1,3,3])\n y = Conv<group=2>(a, $w2: f32[4,2,1,1])",
      "i: f32[1,4,8,8]",
    );
    expect(planOf(text, { depthwise: false }).float).toEqual({
      "Conv:a": "a depthwise convolution, which gains too little here",
    });
    expect(planOf(text).nodes).toEqual({ a: "a", y: "y" });
  });
});

describe("what is quantized behind a product", () => {
  it("a Conv always, also where it is the graph's output", () => {
    expect(planOf(main("y = Conv(i, $w: f32[3,2,1,1])", "i: f32[1,2,4,4]")).nodes).toEqual({ y: "y" });
  });

  it("a MatMul only where integers read it", () => {
    const read = "b = MatMul(a, $w2: f32[4,4])\n y = Tanh(b)";
    expect(planOf(main(`a = MatMul(x, $w: f32[4,4])\n ${read}`)).nodes).toEqual({ a: "a", b: null });
  });

  it("a MatMul that the second input of a sum reads", () => {
    const text = main(`a = MatMul(x, $w: f32[4,4])
      b = MatMul(x, $w1: f32[4,4])
      s = Add(a, b)
      y = MatMul(s, $w2: f32[4,4])`);
    expect(planOf(text).nodes).toEqual({ a: "a", b: "b", s: "s", y: null });
  });

  it("not a MatMul that integers read as something other than an activation", () => {
    const text = main("a = MatMul(x, $w: f32[4,4])\n y = Gemm(z, $w2: f32[4,4], a)", "x: f32[4,4], z: f32[4,4]");
    expect(planOf(text).nodes).toEqual({ a: null });
  });

  const conv = (body: string): string =>
    main(`a = Conv(i, $w: f32[2,2,1,1])\n ${body}\n y = Conv(n, $w2: f32[3,2,1,1])`, "i: f32[1,2,4,4]");

  it.each([
    ["a Relu", "n = Relu(a)", "n"],
    ["a Clip from 0", "n = Clip(a, $l: f32[] = {0}, $h: f32[] = {6})", "n"],
    ["a Clip from 0 without end", "n = Clip(a, $l: f32[] = {0})", "n"],
    ["not a Clip from elsewhere", "n = Clip(a, $l: f32[] = {-1}, $h: f32[] = {1})", "a"],
    ["not a Clip without a lower bound", "n = Clip(a, _, $h: f32[] = {1})", "a"],
    ["not a Clip up to a computed bound", "m = ReduceMax<keepdims=0>(i)\n n = Clip(a, $l: f32[] = {0}, m)", "a"],
    ["not a Tanh", "n = Tanh(a)", "a"],
    ["not a Relu beside another reader", "n = Relu(a)\n o = Tanh(a)", "a"],
  ])("%s", (_, body, behind) => expect(planOf(conv(body)).nodes["a"]).toBe(behind));

  it("the product itself where it is an output too", () => {
    const text = "(i: f32[1,2,4,4]) -> (a, y) {\n a = Conv(i, $w: f32[2,2,1,1])\n y = Relu(a) }";
    expect(planOf(text).nodes).toEqual({ a: "a" });
  });
});

describe("neighbours", () => {
  /** A residual whose trunk is float: `reader` decides whether the trunk is integers for anybody. */
  const residual = (reader: string): string =>
    main(`t = Tanh(x)
      a = MatMul(${reader}, $w: f32[4,4])
      s = Add(a, t)
      y = MatMul(s, $v: f32[4,4])`);

  it("take what is float where a product reads it as integers anyway, or a table tells whether to convert it pays", () => {
    expect(planOf(residual("t")).nodes).toEqual({ a: "a", s: "s", y: null });
    expect(planOf(residual("x")).nodes).toEqual({ a: null, y: null });
    expect(planOf(residual("x"), {}, tabledTarget).nodes).toEqual({ a: "a", s: "s", y: null });
    // One number of a sample, and what is no number.
    const beside = (body: string, input: string) =>
      planOf(
        main(`a = Conv(i, $w: f32[2,2,1,1])\n ${body}\n y = Conv(n, $w2: f32[3,2,1,1])`, `i: f32[1,2,4,4], ${input}`),
        {},
        tabledTarget,
      );
    expect(beside("n = Add(a, j)", "j: f32[1,2,1,1]").nodes).toEqual({ a: "a", n: "n", y: "y" });
    expect(beside("n = Add(a, j)", "j: f32[1,1,1,1]").nodes).toEqual({ a: "a", y: "y" });
    expect(beside("n = Add(a, j)", "j: f32[]").nodes).toEqual({ a: "a", y: "y" });
  });

  it("need one activation at least that integers make, and not only weights in common", () => {
    const floats = main(`t = Tanh(x)
      u = Erf(x)
      a = MatMul(t, $w: f32[4,4])
      b = MatMul(u, $v: f32[4,4])
      s = Add(t, u)
      y = MatMul(s, $k: f32[4,4])`);
    expect(planOf(floats).nodes).toEqual({ a: null, b: null, y: null });
  });

  it("are float again where the one that made integers is", () => {
    const { nodes } = planOf(residual("t"), { keepFloat: new Map([["MatMul:a", "said so"]]) });
    expect(nodes).toEqual({ y: null });
  });

  const between = (body: string, from = "a = Conv(i, $w: f32[2,2,1,1])"): string =>
    main(`${from}\n ${body}\n y = Conv(n, $w2: f32[3,2,1,1])`, "i: f32[1,2,4,4], j: f32[1,2,4,4]");

  it("between products become integers", () => {
    const { nodes } = planOf(between("s = Sigmoid(a)\n m = Mul(a, s)\n n = MaxPool<kernel_shape=[2,2]>(m)"));
    expect(nodes).toEqual({ a: "a", s: "s", m: "m", n: "n", y: "y" });
  });

  it("absorb a Relu when they calculate, not when they move", () => {
    expect(planOf(between("s = Add(a, a)\n n = Relu(s)")).nodes).toEqual({ a: "a", s: "n", y: "y" });
    expect(planOf(between("s = MaxPool<kernel_shape=[2,2]>(a)\n n = Relu(s)")).nodes).toEqual({ a: "a", y: "y" });
  });

  it("lead on through an absorbed Relu", () => {
    const { nodes } = planOf(between("s = Add(a, a)\n r = Relu(s)\n n = MaxPool<kernel_shape=[2,2]>(r)"));
    expect(nodes).toEqual({ a: "a", s: "r", n: "n", y: "y" });
  });

  it.each([
    ["when they are not wanted", between("n = Add(a, a)"), { neighbours: false }],
    ["that are to stay float", between("n = Add(a, a)"), { keepFloat: new Map([["Add:n", "said so"]]) }],
    ["with a float input", between("n = Add(a, j)"), {}],
    ["with a constant input", between("n = Add(a, $c: f32[1])"), {}],
    ["without an integer kernel", between("n = Tanh(a)"), {}],
    ["with a second output", between("n, k = MaxPool<kernel_shape=[2,2]>(a)"), {}],
    ["fed by something float", between("s = Tanh(a)\n n = Add(s, s)"), {}],
    ["that lead nowhere", between("o = Add(a, a)\n p = Tanh(o)\n n = Relu(a)"), {}],
  ])("stay float %s", (_, text, options) => {
    expect(Object.keys(planOf(text, options).nodes)).toEqual(["a", "y"]);
  });

  it("are told of where they are to stay float and would be integers", () => {
    const of = (text: string, name: string, target = safeTarget) =>
      planOf(text, { keepFloat: new Map([[name, "said so"]]) }, target).float;
    expect(of(between("n = Add(a, a)"), "Add:n")).toEqual({ "Add:n": "said so" });
    expect(of(between("n = Add(a, j)"), "Add:n")).toEqual({});
    expect(of(between("n = Add(a, j)"), "Add:n", tabledTarget)).toEqual({ "Add:n": "said so" });
    expect(of(between("n = Add(i, j)"), "Add:n")).toEqual({});
    expect(of(between("n = Tanh(a)"), "Tanh:n")).toEqual({});
  });

  it("that a stranded one fed go too", () => {
    // The Tanh is float, so what is before it leads nowhere.
    const { nodes } = planOf(between("s = MaxPool<kernel_shape=[1,1]>(a)\n t = Add(s, j)\n n = Tanh(t)"));
    expect(nodes).toEqual({ a: "a", y: "y" });
  });

  it("that move integers of another type stay", () => {
    const text = main("f = Flatten(x)\n y = MatMul(x, $w: f32[4,4])");
    expect(planOf(text).nodes).toEqual({ y: null });
  });
});

describe("operators whose integer kernel is wrong", () => {
  const pooled = (attributes: string, between = "r = Relu(p)"): Parameters<typeof planOf> => [
    `(x: f32[1,2,8,8]) -> (y) {
      a = Conv(x, $w: f32[2,2,1,1])
      p = AveragePool<kernel_shape=[3,3], strides=[2,2], ${attributes}>(a)
      ${between}
      y = Conv(r, $u: f32[2,2,1,1])
    }`,
  ];

  it("stand between integers when the kernel is right", () => {
    expect(planOf(...pooled("ceil_mode=1")).nodes).toEqual({ a: "a", p: "r", y: "y" });
    expect(planOf(...pooled("count_include_pad=1")).nodes).toMatchObject({ p: "r" });
  });

  it.each(["ceil_mode=1, count_include_pad=1, pads=[1,1,1,1]", "dilations=[1,1]"])(
    "have a float product behind them: %s",
    (attributes) => {
      const { nodes, float } = planOf(...pooled(attributes));
      expect(nodes).toEqual({ a: "a" });
      expect(Object.values(float)).toEqual([expect.stringContaining("integer kernel is wrong")]);
    },
  );

  it("are not reached through an operator that keeps pairs apart", () => {
    const { nodes } = planOf(...pooled("ceil_mode=1, count_include_pad=1", "r = Exp(p)"));
    expect(nodes).toEqual({ a: "a", y: "y" });
  });
});
