import { describe, expect, it } from "vitest";
import { check, type Model, type Node, Tensor } from "../../../src/ir/index.js";
import { type LinearLayer, linearLayer, readLinear, writeLinear } from "../../../src/pruning/refit/linear-layers.js";
import { momentsOf, type Tapped, tapMoments } from "../../../src/pruning/refit/moment-taps.js";
import { type Moments, outputVariance, squaredError } from "../../../src/pruning/refit/moments.js";
import { prepared } from "../../support/quantize-text.js";
import { runModel, seededFeeds } from "../../support/run-model.js";

const layerOf = (model: Model, op: string): LinearLayer => {
  const node = [...model.graph.nodes()].find((each: Node) => each.op === op)!;
  const layer = linearLayer(node);
  if ("reason" in layer) throw new Error(layer.reason);
  return layer;
};

async function moments(
  text: string,
  op: string,
  change: Partial<Tapped> | ((model: Model) => Partial<Tapped>) = {},
  opset = 17,
) {
  const model = await prepared(text, opset);
  const layer = layerOf(model, op);
  const feeds = seededFeeds(model);
  const tapped: Tapped = {
    layer,
    input: layer.input,
    target: layer.output,
    keptOutputs: null,
    minus: null,
    mask: null,
    step: 1,
    ...(typeof change === "function" ? change(model) : change),
  };
  tapMoments(model, "m", tapped);
  check(model.graph);
  const results = Object.entries(await runModel(model, feeds));
  const sums = new Map(results.map(([name, tensor]) => [name, Float64Array.from(tensor.toF32()!)]));
  return { model, layer, feeds, moments: momentsOf(layer, "m", sums) };
}

const share = (of: Moments, layer: LinearLayer): number => squaredError(of, readLinear(layer)) / outputVariance(of);

const conv = (weights: string, bias: string, attributes = "") =>
  `(x: f32[2,6,9,7]) -> (y) { r = Relu(x)\n y = Conv${attributes}(r, $w: f32[${weights}], $b: f32[${bias}]) }`;
const turned = (weights: string, bias: string, attributes: string) =>
  `(x: f32[2,6,5,4]) -> (y) { y = ConvTranspose${attributes}(x, $w: f32[${weights}], $b: f32[${bias}]) }`;

// What a layer makes itself is made without error by its own weights, if rows, weights and padding are all in their places.
const layers: readonly (readonly [name: string, text: string, op: string])[] = [
  ["1x1", conv("8,6,1,1", "8"), "Conv"],
  ["1x1 with strides", conv("8,6,1,1", "8", "<strides=[2,3]>"), "Conv"],
  ["3x3 with padding", conv("8,6,3,3", "8", "<pads=[1,1,1,1]>"), "Conv"],
  [
    "uneven padding, strides and dilations",
    conv("8,6,3,2", "8", "<pads=[0,1,2,1], strides=[2,1], dilations=[2,3]>"),
    "Conv",
  ],
  ["padding by name", conv("8,6,3,3", "8", '<auto_pad="SAME_UPPER", strides=[2,2]>'), "Conv"],
  ["depthwise", conv("6,1,3,3", "6", "<group=6, pads=[1,1,1,1]>"), "Conv"],
  ["depthwise with several outputs a channel", conv("12,1,3,3", "12", "<group=6>"), "Conv"],
  ["groups", conv("9,2,3,3", "9", "<group=3>"), "Conv"],
  ["one dimension", "(x: f32[2,4,20]) -> (y) { y = Conv<pads=[2,0]>(x, $w: f32[5,4,3], $b: f32[5]) }", "Conv"],
  ["transposed", turned("6,4,3,3", "4", "<strides=[2,2], pads=[1,1,0,1], output_padding=[1,0]>"), "ConvTranspose"],
  ["transposed with groups", turned("6,2,2,3", "4", "<group=2, strides=[2,1], dilations=[1,2]>"), "ConvTranspose"],
  ["Gemm", "(x: f32[20,6]) -> (y) { y = Gemm(x, $w: f32[6,3], $b: f32[3]) }", "Gemm"],
  ["Gemm, weights turned", "(x: f32[20,6]) -> (y) { y = Gemm<transB=1>(x, $w: f32[3,6], $b: f32[1,3]) }", "Gemm"],
  ["MatMul and its bias", "(x: f32[2,9,6]) -> (y) { m = MatMul(x, $w: f32[6,3])\n y = Add($b: f32[3], m) }", "MatMul"],
];

describe("moments of a layer, as the runtime sums them", () => {
  it.each(layers)("%s", async (_, text, op) => {
    for (const opset of [17, 18]) {
      const { layer, moments: of } = await moments(text, op, {}, opset);
      expect(of.gram).toHaveLength(layer.groups * layer.inputs ** 2);
      expect(outputVariance(of)).toBeGreaterThan(0);
      expect(share(of, layer)).toBeLessThan(1e-5);
      const other = readLinear(layer);
      expect(squaredError(of, { ...other, weights: other.weights.map((w) => -w) })).toBeGreaterThan(
        0.1 * outputVariance(of),
      );
    }
  });

  it.each(layers)("weights are written as they were read: %s", async (_, text, op) => {
    const model = await prepared(text);
    const layer = layerOf(model, op);
    const before = await runModel(model, seededFeeds(model));
    const { weights, bias } = readLinear(layer);
    writeLinear(model, layer, { weights: weights.map((w) => 2 * w), bias: bias?.map((b) => 2 * b) ?? null });
    check(model.graph);
    const after = await runModel(model, seededFeeds(model));
    const wanted = [...before["y"]!.f32()].map((v) => 2 * v);
    expect([...after["y"]!.f32()].every((v, i) => Math.abs(v - wanted[i]!) < 1e-4)).toBe(true);
  });

  it("holds the channels that are kept, less what else is added", async () => {
    const text = `(x: f32[2,6,5,5], s: f32[2,2,5,5]) -> (y, s2) {
      y = Conv(x, $w: f32[8,6,1,1], $b: f32[8])
      s2 = Relu(s)
    }`;
    const model = await prepared(text);
    const whole = await moments(text, "Conv");
    const feeds = seededFeeds(model);
    const conv = layerOf(model, "Conv");
    const layer: LinearLayer = { ...conv, outputs: 2 };
    const [s2] = [[...model.graph.nodes()].find(({ op }) => op === "Relu")!.output];
    tapMoments(model, "m", {
      layer,
      input: conv.input,
      target: conv.output,
      keptOutputs: [1, 6],
      minus: s2,
      mask: null,
      step: 1,
    });
    const results = Object.entries(await runModel(model, feeds));
    const sums = new Map(results.map(([name, tensor]) => [name, Float64Array.from(tensor.toF32()!)]));
    const shortcut = feeds["s"]!.f32().map((v) => Math.max(0, v));
    const made = [0, 1].map((c) => [0, 1].flatMap((n) => [...shortcut.slice((n * 2 + c) * 25, (n * 2 + c + 1) * 25)]));
    const of = momentsOf(layer, "m", sums);
    [1, 6].forEach((channel, i) => {
      const taken = made[i]!.reduce((a, b) => a + b);
      expect(of.outputSums[i]).toBeCloseTo(whole.moments.outputSums[channel]! - taken, 2);
    });
  });

  it("counts no row that is padding", async () => {
    const text = `(x: f32[2,9,6], attention_mask: i64[2,9]) -> (y, k) {
      y = MatMul(x, $w: f32[6,3])
      k = Identity(attention_mask)
    }`;
    const model = await prepared(text);
    const layer = layerOf(model, "MatMul");
    const mask = model.graph.inputs[1]!;
    tapMoments(model, "m", {
      layer,
      input: layer.input,
      target: layer.output,
      keptOutputs: null,
      minus: null,
      mask,
      step: 1,
    });
    const feeds = { ...seededFeeds(model) };
    const ones = Array.from({ length: 18 }, (_, i) => (i % 9 < 4 ? 1 : 0));
    const results = await runModel(model, { ...feeds, attention_mask: Tensor.i64([2, 9], ones) });
    const sums = new Map(
      Object.entries(results).flatMap(([name, t]) => (t.dtype === "f32" ? [[name, Float64Array.from(t.f32())]] : [])),
    );
    const of = momentsOf(layer, "m", sums);
    expect(of.rows).toBeCloseTo(8, 5);
    const x = feeds["x"]!.f32();
    const first = [...x].filter((_, i) => i % 6 === 0).filter((_, r) => ones[r] === 1);
    expect(of.inputSums[0]).toBeCloseTo(
      first.reduce((a, b) => a + b),
      4,
    );
    expect(share(of, layer)).toBeLessThan(1e-5);
  });

  it("takes every nth row", async () => {
    const { layer, moments: of } = await moments(conv("8,6,3,3", "8"), "Conv", { step: 4 });
    expect(of.rows).toBe(Math.ceil((2 * 7 * 5) / 4));
    expect(share(of, layer)).toBeLessThan(1e-5);
  });
});

describe("linearLayer", () => {
  it.each([
    ["computed weights", "(x: f32[2,6], w: f32[6,3]) -> (y) { y = MatMul(x, w) }", "MatMul", /computed/],
    [
      "shared weights",
      "(x: f32[2,6]) -> (y, z) { y = MatMul(x, $w: f32[6,6])\n z = MatMul(y, $w) }",
      "MatMul",
      /shares/,
    ],
    ["a scaled product", "(x: f32[2,6]) -> (y) { y = Gemm<alpha=0.5>(x, $w: f32[6,3]) }", "Gemm", /scaled/],
    ["several matrices", "(x: f32[4,2,6]) -> (y) { y = MatMul(x, $w: f32[4,6,3]) }", "MatMul", /several/],
    ["a bias for all", "(x: f32[2,6]) -> (y) { y = Gemm(x, $w: f32[6,3], $b: f32[2,1]) }", "Gemm", /bias/],
    ["a computed bias", "(x: f32[2,6], b: f32[3]) -> (y) { y = Gemm(x, $w: f32[6,3], b) }", "Gemm", /bias/],
  ])("says what it cannot fit: %s", async (_, text, op, reason) => {
    const model = await prepared(text);
    const layer = linearLayer([...model.graph.nodes()].find((node) => node.op === op)!);
    expect("reason" in layer && layer.reason).toMatch(reason);
  });

  it("takes no sum for a bias that is not one", async () => {
    const model = await prepared(`(x: f32[2,3,6]) -> (y) { m = MatMul(x, $w: f32[6,3])\n y = Add(m, $b: f32[3,1]) }`);
    expect(layerOf(model, "MatMul").bias).toBeNull();
  });
});
