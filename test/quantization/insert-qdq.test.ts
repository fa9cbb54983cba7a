import { describe, expect, it } from "vitest";
import { check, loadModel, type Model, nodesWithin, opsetOf, parseModel, saveModel } from "../../src/ir/index.js";
import { activationsOf, insertQdq } from "../../src/quantization/insert-qdq.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import { integerTarget } from "../../src/target/integer-kernels.js";
import { errorOf, prepared, quantizeText, relativeError, safeTarget } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const count = ({ graph }: Model, op: string): number => [...nodesWithin(graph)].filter((node) => node.is(op)).length;

/** No pair directly behind a pair, no integers that nobody made. */
function expectSound(model: Model): void {
  check(model.graph);
  for (const node of nodesWithin(model.graph)) {
    expect(node.domain).toBe("");
    if (!node.is("QuantizeLinear")) continue;
    expect(node.inputs[0]!.producer?.op).not.toBe("DequantizeLinear");
    expect(node.output.uses.map((use) => use.kind === "input" && use.node.op)).toEqual(["DequantizeLinear"]);
  }
  const names = [...nodesWithin(model.graph)].map(({ name }) => name);
  expect(names.every((name) => name !== "")).toBe(true);
  expect(new Set(names).size).toBe(names.length);
}

const conv = (made: string, from: string, weight = `$w_${made}: f32[4,4,1,1]`): string =>
  `${made} = Conv(${from}, ${weight}, $b_${made}: f32[4])`;
const image = (body: string, outputs = "y"): string => `(x: f32[2,4,6,6]) -> (${outputs}) {\n ${body} }`;

describe("insertQdq", () => {
  it.each([
    [
      "a residual sum",
      image(`${conv("a", "x")}\n r = Relu(a)\n ${conv("b", "r")}\n s = Add(b, r)\n t = Relu(s)\n ${conv("y", "t")}`),
    ],
    ["a residual sum with the input", image(`${conv("a", "x")}\n s = Add(a, x)\n ${conv("y", "s")}`)],
    ["an input that two convolutions read", image(`${conv("a", "x")}\n ${conv("b", "x")}\n y = Add(a, b)`)],
    ["a value that is an output and is read", image(`${conv("a", "x")}\n ${conv("y", "a")}`, "a, y")],
    ["an absorbed Relu that is an output", image(`${conv("a", "x")}\n r = Relu(a)\n ${conv("y", "r")}`, "r, y")],
    ["a float node between", image(`${conv("a", "x")}\n t = Tanh(a)\n ${conv("y", "t")}`)],
    ["a branch into a float node", image(`${conv("a", "x")}\n t = Tanh(a)\n ${conv("c", "a")}\n y = Add(t, c)`)],
    [
      "a pool and a concatenation",
      image(
        `${conv("a", "x")}\n ${conv("b", "x")}\n p = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(a)\n c = Concat<axis=1>(p, b)\n y = Conv(c, $w: f32[4,8,1,1])`,
      ),
    ],
    ["one value in two outputs", image(conv("a", "x"), "y = a, z = a")],
    ["a transposed Gemm", "(x: f32[3,8]) -> (y) { y = Gemm<transB=1>(x, $w: f32[5,8], $b: f32[5]) }"],
    ["a Gemm with a bias of one row", "(x: f32[3,8]) -> (y) { y = Gemm(x, $w: f32[8,5], $b: f32[1,5]) }"],
    ["a Gemm without bias", "(x: f32[3,8]) -> (y) { a = Gemm(x, $w: f32[8,5])\n y = Gemm(a, $v: f32[5,2]) }"],
    ["a MatMul of three axes", "(x: f32[2,3,8]) -> (y) { a = MatMul(x, $w: f32[8,5])\n y = MatMul(a, $v: f32[5,2]) }"],
    ["a vector times a matrix", "(x: f32[8]) -> (y) { y = MatMul(x, $w: f32[8,5]) }"],
    [
      "free dimensions",
      "(x: f32[N,4,H,H]) -> (y) { a = Conv<pads=[1,1,1,1]>(x, $w: f32[4,4,3,3])\n r = Relu(a)\n y = Conv(r, $v: f32[2,4,1,1]) }",
    ],
    [
      "a filter of zeros",
      image("y = Conv(x, $w: f32[4,4,1,1] = {1,2,3,4,0,0,0,0,5,6,7,8,0,0,0,0}, $b: f32[4] = {1,-1.2,0.5,0})"),
    ],
    [
      "a body that reads a quantized value",
      `(x: f32[2,4,6,6], c: bool) -> (y) { ${conv("a", "x")}
      ${conv("b", "a")}
      y = If<then_branch=() -> (t) { t = Neg(a) }, else_branch=() -> (e) { e = Identity(b) }>(c) }`,
    ],
  ])("%s: loads, is sound, and is close to float", async (_, text) => {
    const { float, model, feeds, report } = await quantizeText(text);
    expectSound(model);
    expect(report.quantized.length).toBeGreaterThan(0);
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(float.graph.outputs.map(({ name }) => name));
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.04);
  });

  it("puts one pair behind an input, however many nodes read it", async () => {
    const { model } = await quantizeText(image(`${conv("a", "x")}\n ${conv("b", "x")}\n y = Add(a, b)`));
    expect(model.graph.inputs[0]!.uses.map((use) => use.kind === "input" && use.node.op)).toEqual(["QuantizeLinear"]);
  });

  it("lets every reader of a Conv read what its integers say, outputs included", async () => {
    const { model } = await quantizeText(image(`${conv("a", "x")}\n t = Tanh(a)\n ${conv("y", "a")}`, "a, t, y"));
    const made = [...model.graph.nodes()].find((node) => node.is("Conv"))!.output;
    expect(made.uses.map((use) => use.kind === "input" && use.node.op)).toEqual(["QuantizeLinear"]);
    expect(model.graph.outputs[0]!.value.producer!.op).toBe("DequantizeLinear");
  });

  it("gives what is moved the scale of what moves", async () => {
    const { model } = await quantizeText(
      image(
        `${conv("a", "x")}\n p = MaxPool<kernel_shape=[2,2]>(a)\n q = Transpose<perm=[0,1,3,2]>(p)\n ${conv("y", "q")}`,
      ),
    );
    const scales = ["a", "p", "q"].map((label) => {
      const pair = [...model.graph.nodes()].find((node) => node.name === `${label}/QuantizeLinear`)!;
      return pair.inputs.slice(1).map((value) => value!.constant!.bytes().toString());
    });
    expect(scales[1]).toEqual(scales[0]);
    expect(scales[2]).toEqual(scales[0]);
  });

  it("reads biases as 32-bit integers and weights as 8-bit ones", async () => {
    const { model } = await quantizeText(image(conv("y", "x")));
    const [, weight, bias] = [...model.graph.nodes()].find((node) => node.is("Conv"))!.inputs;
    expect(weight!.producer!.inputs.map((value) => value!.dtype)).toEqual(["i8", "f32", "i8"]);
    expect(bias!.producer!.inputs.map((value) => value!.dtype)).toEqual(["i32", "f32", "i32"]);
  });

  it("stores a weight once that two convolutions share, and drops the float one", async () => {
    const shared = image("a = Conv(x, $w: f32[4,4,1,1])\n y = Conv(a, $w)");
    const { float, model, feeds } = await quantizeText(shared);
    expect(model.graph.constants.filter((value) => value.constant!.elementCount === 16)).toHaveLength(1);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.04);
  });

  it("rounds a weight that two products share once, whatever their inputs are", async () => {
    const text = "(x: f32[4,64]) -> (y) { a = MatMul(x, $w: f32[64,64])\n r = Relu(a)\n y = MatMul(r, $w) }";
    const means = new Float32Array(64).fill(0.5);
    const none = new Float32Array(64);
    const moments = { samples: 1, means, spread: none, shared: none };
    const model = await prepared(text);
    const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    const values = activationsOf(plan);
    const schemes = new Map(values.map(({ label }) => [label, { scale: 0.02, zeroPoint: 128 }] as const));
    const inputs = new Map(values.map(({ label }) => [label, moments] as const));
    insertQdq(model, plan, schemes, safeTarget, inputs);
    expect(plan.nodes.filter(({ node }) => node.is("MatMul"))).toHaveLength(2);
    expect(model.graph.constants.filter((value) => value.constant!.elementCount === 64 * 64)).toHaveLength(1);
  });

  it("keeps the float weight for a reader that stays float", async () => {
    const shared = image("a = Conv(x, $w: f32[4,4,1,1])\n y = Conv(a, $w)");
    const { float, model, feeds } = await quantizeText(shared, { keepFloat: new Map([["Conv:y", "said so"]]) });
    expect(count(model, "Conv")).toBe(2);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.04);
  });

  it("raises the scale of a weight too small for its bias, and says so", async () => {
    const tiny = image("y = Conv(x, $w: f32[1,4,1,1] = {1e-9, -1e-9, 1e-9, 1e-9}, $b: f32[1] = {5})");
    const { float, model, feeds, report } = await quantizeText(tiny);
    expect(report.notes).toEqual([
      "Conv:y: the weight scale of 1 of 1 channels was raised to fit the bias into 32 bits",
    ]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(1e-3);
  });

  it("shares a weight between two convolutions of which one raised its scales", async () => {
    const text = image(`a = Conv(x, $w: f32[4,4,1,1], $b: f32[4] = {1e9, 0, 0, 0})\n y = Conv(x, $w)`, "a, y");
    const { float, model, feeds } = await quantizeText(text);
    const [wanted, got] = [await runModel(float, feeds), await runModel(model, feeds)];
    expect(relativeError({ y: wanted["y"]! }, { y: got["y"]! })).toBeLessThan(0.04);
  });

  it("writes the same bytes each time", async () => {
    const text = image(`${conv("a", "x")}\n s = Add(a, x)\n ${conv("y", "s")}`);
    const bytes = async (): Promise<string> => {
      const path = `${temporaryFolder()}/m.onnx`;
      saveModel((await quantizeText(text)).model, path).commit();
      return loadModel(path)
        .graph.constants.map((value) => `${value.label} ${value.constant?.bytes()}`)
        .join();
    };
    expect(await bytes()).toBe(await bytes());
  });

  it("refuses opsets that know no scale per channel, and values without a scheme", async () => {
    const model = await prepared(image(conv("y", "x")), 12);
    const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    expect(opsetOf(model)).toBe(12);
    expect(() => insertQdq(model, plan, new Map(), safeTarget)).toThrow("opset 13");
    const newer = await prepared(image(conv("y", "x")));
    const again = planStatic(newer, safeTarget, { neighbours: true, depthwise: true });
    expect(() => insertQdq(newer, again, new Map(), safeTarget)).toThrow("no range is known for x");
  });
});

describe("activationsOf", () => {
  it("names what planned nodes read and what stands behind them, once each", () => {
    const model = parseModel(image(`${conv("a", "x")}\n r = Relu(a)\n s = Add(r, r)\n ${conv("y", "s")}`));
    const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    expect(activationsOf(plan).map(({ label }) => label)).toEqual(["x", "r", "s", "y"]);
    expect(seededFeeds(model)["x"]!.dims).toEqual([2, 4, 6, 6]);
  });
});

describe("a model that was quantized in part", () => {
  it("gets the rest, with the pairs that it has", async () => {
    const text = image(`${conv("a", "x")}\n r = Relu(a)\n ${conv("b", "r")}\n t = Tanh(b)\n ${conv("y", "t")}`);
    const whole = await quantizeText(text);
    const isFirst = new Set(["Conv:a", "Conv:y"]);
    const part = await quantizeText(text, { takes: ({ name }) => isFirst.has(name) });
    const rest = planStatic(part.model, safeTarget, { neighbours: true, depthwise: true });
    expect(rest.nodes.map(({ node }) => node.name)).toEqual(["Conv:b"]);
    insertQdq(part.model, rest, whole.schemes, safeTarget);
    expectSound(part.model);
    expect(count(part.model, "QuantizeLinear")).toBe(count(whole.model, "QuantizeLinear"));
    expect(
      relativeError(await runModel(whole.model, whole.feeds), await runModel(part.model, whole.feeds)),
    ).toBeLessThan(1e-6);
  });
});

describe("for TensorRT", () => {
  it("all integers are signed and all zero points 0, and biases stay float", async () => {
    const text = image(`${conv("a", "x")}\n r = Relu(a)\n s = Add(r, x)\n ${conv("y", "s")}`);
    const { float, model, feeds } = await quantizeText(text, {}, integerTarget("tensorrt", "x64", []));
    expectSound(model);
    for (const { op, inputs, output } of nodesWithin(model.graph)) {
      if (op === "Conv") expect(inputs[2]!.constant?.dtype).toBe("f32");
      if (op !== "QuantizeLinear" && op !== "DequantizeLinear") continue;
      expect(op === "QuantizeLinear" ? output.dtype : inputs[0]!.dtype).toBe("i8");
      expect(inputs[2]!.constant!.bytes().every((byte) => byte === 0)).toBe(true);
    }
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.06);
  });
});
