import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { type Linear, squaredError } from "../../../src/pruning/refit/moments.js";
import { refit } from "../../../src/pruning/refit/ridge.js";
import { linearOfOutputs, momentsOfOutputs, someOutputs } from "../../../src/pruning/refit/some-outputs.js";
import { madeOf, momentsFrom } from "./made-up-moments.js";

const random = seededRandom(5);
const noise = (): number => random.next() - 0.5;
const [groups, inputs] = [2, 3];

function layer(outputs: number) {
  const shape = { groups, inputs, outputs };
  const x = Array.from({ length: 30 }, () => Array.from({ length: groups * inputs }, noise));
  const truth: Linear = {
    weights: Float64Array.from({ length: groups * inputs * outputs }, noise),
    bias: Float64Array.from({ length: groups * outputs }, noise),
  };
  return { truth, moments: momentsFrom({ ...shape, x, y: x.map((row) => madeOf(truth, shape, row)) }) };
}

describe("some outputs of a layer", () => {
  it("are all where there are few, and spread where there are many", () => {
    expect(someOutputs(layer(5).moments)).toEqual([0, 1, 2, 3, 4]);
    const chosen = someOutputs(layer(300).moments);
    expect(chosen.length).toBeLessThan(300);
    expect(Math.max(...chosen)).toBeGreaterThan(290);
  });

  it("miss what they miss in the whole layer, and the others nothing", () => {
    const { truth, moments } = layer(7);
    const chosen = [1, 4, 6];
    const wrong: Linear = { ...truth, weights: truth.weights.slice() };
    const at = (g: number, o: number): number => (g * 7 + o) * inputs;
    for (const g of [0, 1]) for (const o of chosen) wrong.weights[at(g, o) + 1]! += 0.5;
    const of = (linear: Linear): number =>
      squaredError(momentsOfOutputs(moments, chosen), linearOfOutputs(linear, moments, chosen));
    expect(of(wrong)).toBeCloseTo(squaredError(moments, wrong), 9);
    expect(of(wrong)).toBeGreaterThan(0.1);
    wrong.weights[at(1, 0)]! += 9;
    expect(of(wrong)).toBeLessThan(squaredError(moments, wrong) / 2);
  });

  it("choose for a layer of many, all of which are fitted", () => {
    const { truth, moments } = layer(200);
    const start: Linear = { weights: truth.weights.map((w) => w + 0.3 * noise()), bias: truth.bias };
    const before = squaredError(moments, start);
    const result = refit(structuredClone(moments), structuredClone(moments), start);
    if ("reason" in result) throw new Error(result.reason);
    expect(squaredError(moments, result.linear)).toBeLessThan(before / 100);
    expect(result.before).toBeGreaterThan(result.after);
  });
});
