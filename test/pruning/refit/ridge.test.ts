import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { centred, joined, type Linear, squaredError } from "../../../src/pruning/refit/moments.js";
import { type Refit, refit, ridge } from "../../../src/pruning/refit/ridge.js";
import { madeOf, momentsFrom } from "./made-up-moments.js";

const random = seededRandom(3);
const noise = (): number => random.next() - 0.5;
const rowsOf = (count: number, size: number, of = noise): number[][] =>
  Array.from({ length: count }, () => Array.from({ length: size }, of));
const linearOf = (groups: number, inputs: number, outputs: number, hasBias = true): Linear => ({
  weights: Float64Array.from({ length: groups * inputs * outputs }, noise),
  bias: hasBias ? Float64Array.from({ length: groups * outputs }, noise) : null,
});

/** Moments of a layer that is to be found, with inputs about 3 so that means matter. */
function problem(
  groups: number,
  inputs: number,
  outputs: number,
  truth: Linear,
  count: number,
  from = () => 3 + noise(),
) {
  const shape = { groups, inputs, outputs };
  const x = rowsOf(count, groups * inputs, from);
  return momentsFrom({ ...shape, x, y: x.map((row) => madeOf(truth, shape, row)) });
}

function sound(result: ReturnType<typeof refit>): Refit {
  if ("reason" in result) throw new Error(result.reason);
  return result;
}

describe("squaredError", () => {
  it("is that of the rows themselves", () => {
    const shape = { groups: 2, inputs: 3, outputs: 2 };
    const [x, y] = [rowsOf(20, 6), rowsOf(20, 4)];
    const linear = linearOf(2, 3, 2);
    const direct = x.flatMap((row, r) => madeOf(linear, shape, row).map((made, o) => (made - y[r]![o]!) ** 2));
    expect(squaredError(momentsFrom({ ...shape, x, y }), linear)).toBeCloseTo(
      direct.reduce((a, b) => a + b),
      9,
    );
  });
});

describe("refit", () => {
  it.each([
    ["one group", 1, 8, 5, true],
    ["without a bias", 1, 8, 5, false],
    ["depthwise", 12, 9, 1, true],
    ["several groups", 3, 6, 4, true],
  ] as const)("finds the weights that make the outputs: %s", (_, groups, inputs, outputs, hasBias) => {
    const truth = linearOf(groups, inputs, outputs, hasBias);
    const [fitted, others] = [400, 100].map((count) => problem(groups, inputs, outputs, truth, count)) as [
      ReturnType<typeof problem>,
      ReturnType<typeof problem>,
    ];
    const result = sound(refit(fitted, others, linearOf(groups, inputs, outputs, hasBias)));
    expect(result.after).toBeLessThan(result.before / 1000);
  });

  it("is of all samples in the end, and of those that are fitted alone where more is to be judged by the others", () => {
    const [one, other, start] = [linearOf(1, 6, 3), linearOf(1, 6, 3), linearOf(1, 6, 3)];
    const fitted = problem(1, 6, 3, one, 200);
    // A few rows of another layer: all samples together have other weights then.
    const others = joined(problem(1, 6, 3, one, 50), problem(1, 6, 3, other, 5));
    const about = centred(fitted);
    const kept = sound(refit(structuredClone(fitted), structuredClone(others), start, true));
    const own = ridge({ ...fitted, ...about }, kept.strength, start)!;
    expect([...kept.linear.weights]).toEqual([...own.weights]);
    const all = sound(refit(structuredClone(fitted), structuredClone(others), start));
    expect([...all.linear.weights]).not.toEqual([...own.weights]);
    expect(all).toMatchObject({ strength: kept.strength, before: kept.before, after: kept.after });
  });

  it("draws towards the weights that are there where samples are few", () => {
    const truth = linearOf(1, 30, 4);
    const near: Linear = { weights: truth.weights.map((w) => w + 0.02 * noise()), bias: truth.bias };
    // Fewer rows than inputs: least squares alone would make anything of it.
    const result = sound(refit(problem(1, 30, 4, truth, 12), problem(1, 30, 4, truth, 200), near));
    const distance = (a: Linear): number => Math.hypot(...a.weights.map((w, i) => w - truth.weights[i]!));
    expect(distance(result.linear)).toBeLessThanOrEqual(distance(near));
  });

  it("takes the stronger ridge where the outputs are mostly noise", () => {
    const truth = linearOf(1, 20, 3);
    const noisy = (count: number) => {
      const x = rowsOf(count, 20);
      const y = x.map((row) =>
        madeOf(truth, { groups: 1, inputs: 20, outputs: 3 }, row).map((made) => made + 6 * noise()),
      );
      return momentsFrom({ groups: 1, inputs: 20, outputs: 3, x, y });
    };
    const near: Linear = { weights: truth.weights.map((w) => w * 1.05), bias: truth.bias!.map((b) => b + 2) };
    const clean = sound(refit(problem(1, 20, 3, truth, 400), problem(1, 20, 3, truth, 400), linearOf(1, 20, 3)));
    expect(sound(refit(noisy(40), noisy(400), near)).strength).toBeGreaterThan(clean.strength);
  });

  const truth = linearOf(1, 4, 2);
  const good = problem(1, 4, 2, truth, 50);
  it.each([
    ["NaN", { ...good, gram: good.gram.map((v, i) => (i === 3 ? Number.NaN : v)) }, good, /NaN/],
    [
      "infinite outputs",
      good,
      { ...good, outputSums: good.outputSums.map(() => Number.POSITIVE_INFINITY) },
      /NaN or inf/,
    ],
    ["constant inputs", problem(1, 4, 2, truth, 50, () => 2), good, /constant/],
    ["one row", problem(1, 4, 2, truth, 1), good, /too few/],
    ["no rows of other samples", good, problem(1, 4, 2, truth, 0), /too few/],
  ])("leaves the layer alone, with a reason: %s", (_, fitted, others, reason) => {
    const result = refit(fitted, others, linearOf(1, 4, 2));
    expect("reason" in result && result.reason).toMatch(reason);
  });

  it("leaves the layer alone where others are served worse", () => {
    const other = linearOf(1, 4, 2);
    const result = refit(problem(1, 4, 2, other, 50), good, truth);
    expect("reason" in result && result.reason).toMatch(/no better/);
  });

  it("keeps the weights of a group whose inputs are constant, and fits the others", () => {
    const shape = { groups: 2, inputs: 3, outputs: 1 };
    const both = linearOf(2, 3, 1);
    const make = (count: number) => {
      const x = rowsOf(count, 6).map((row) => row.map((value, i) => (i < 3 ? 1 : value)));
      return momentsFrom({ ...shape, x, y: x.map((row) => madeOf(both, shape, row)) });
    };
    const start = linearOf(2, 3, 1);
    const { linear } = sound(refit(make(200), make(50), start));
    expect(linear.weights.slice(0, 3)).toEqual(start.weights.slice(0, 3));
    expect(Math.hypot(...[3, 4, 5].map((i) => linear.weights[i]! - both.weights[i]!))).toBeLessThan(0.05);
  });
});
