/** Of which operators a larger element never gives a smaller one, by the numbers that the runtime computes. */
import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../src/ir/index.js";
import { neverFalls } from "../../src/ops/monotone.js";
import { runModel } from "../support/run-model.js";

const RISING = Float32Array.from({ length: 161 }, (_, i) => (i - 80) / 8);

const texts: readonly (readonly [string, boolean])[] = [
  ["Relu(x)", true],
  ["Sigmoid(x)", true],
  ["Tanh(x)", true],
  ["Softplus(x)", true],
  ["Clip(x, $a: f32[] = {-1}, $b: f32[] = {2})", true],
  ["LeakyRelu(x)", true],
  ["LeakyRelu<alpha=-0.3>(x)", false],
  ["Elu<alpha=2.0>(x)", true],
  ["Elu<alpha=-1.0>(x)", false],
  ["Celu<alpha=0.5>(x)", true],
  ["Selu(x)", true],
  ["Selu<alpha=-1.0>(x)", false],
  ["Selu<gamma=-1.0>(x)", false],
  ["ThresholdedRelu<alpha=0.5>(x)", true],
  ["ThresholdedRelu<alpha=-2.0>(x)", false],
  ["HardSigmoid(x)", true],
  ["HardSigmoid<alpha=-0.2>(x)", false],
  ["PRelu(x, $s: f32[1] = {0.1})", true],
  ["PRelu(x, $s: f32[1] = {-0.1})", false],
  ["Mish(x)", false],
  ["Softsign(x)", false],
  ["HardSwish(x)", false],
  ["Abs(x)", false],
];

describe("neverFalls", () => {
  it.each(texts)("%s: %s", async (text, expected) => {
    const model = parseModel(`(x: f32[1,1,161]) -> (y) { y = ${text} }`, { opset: 18 });
    const [node] = model.graph.nodes();
    expect(neverFalls(node!, 1)).toBe(expected);
    if (!expected) return;
    const [y] = Object.values(await runModel(model, { x: Tensor.f32([1, 1, 161], RISING) }));
    const falls = y!.f32().findIndex((value, i, all) => i > 0 && value < all[i - 1]! - 1e-6);
    expect(falls).toBe(-1);
  });

  it("asks slopes along the axes that count alone", () => {
    const slopes = "$s: f32[2,1,1] = {0.1, 0.2}";
    const [node] = parseModel(`(x: f32[1,2,3,3]) -> (y) { y = PRelu(x, ${slopes}) }`).graph.nodes();
    expect([1, 2, 3].map((axes) => neverFalls(node!, axes))).toEqual([true, true, false]);
  });

  it("knows nothing of other domains", () => {
    const [node] = parseModel("(x: f32[1,2]) -> (y) { y = com.example::Relu(x) }").graph.nodes();
    expect(neverFalls(node!, 1)).toBe(false);
  });
});
