import { describe, expect, it } from "vitest";
import { parseModel, type Value } from "../../src/ir/index.js";
import { binsPerSide, clampTap, newTap, observeTensor, type TapStatistics } from "../../src/observe/index.js";
import { effectiveRange } from "../../src/quantization/effective-range.js";
import { activationScheme } from "../../src/quantization/scheme.js";

describe("activationScheme", () => {
  it("makes zero exact and covers the range to half a step", () => {
    for (const [low, high] of [
      [-1, 1],
      [-0.3, 2.7],
      [-5, 0],
      [0, 6],
    ] as const) {
      const { scale, zeroPoint } = activationScheme({ low, high });
      expect(Number.isInteger(zeroPoint)).toBe(true);
      expect((0 - zeroPoint) * scale).toBeLessThanOrEqual(low + scale / 2 + 1e-6);
      expect((255 - zeroPoint) * scale).toBeGreaterThanOrEqual(high - scale / 2 - 1e-6);
    }
  });

  it("has zero point 0 for a range that starts there", () => {
    expect(activationScheme({ low: 0, high: 3 }).zeroPoint).toBe(0);
    expect(Object.is(activationScheme({ low: -0, high: 3 }).zeroPoint, 0)).toBe(true);
  });

  it("never stands for more than a range from 0, so that the runtime drops the Clip in front", () => {
    for (let i = 1; i < 20_000; i++) {
      const high = Math.fround(i * 0.00137);
      const { scale } = activationScheme({ low: 0, high });
      expect(Math.fround(scale * 255)).toBeLessThanOrEqual(high);
      expect(scale * 255).toBeGreaterThan(high * (1 - 1e-6));
    }
  });
});

function firstValue(body: string): Value {
  const { graph } = parseModel(`(x: f32[4]) -> (y) {\n a = Neg(x)\n ${body} }`);
  return graph.firstNode!.output;
}

describe("effectiveRange", () => {
  const infinite = Number.POSITIVE_INFINITY;
  it.each([
    ["y = Relu(a)", 0, infinite],
    ["y = HardSwish(a)", -3, infinite],
    ["y = HardSigmoid<alpha=0.25, beta=0.5>(a)", -2, 2],
    ["y = Clip(a, $l: f32[] = {-0.5}, $h: f32[] = {6})", -0.5, 6],
    ["y = Clip(a, _, $h: f32[] = {6})", -infinite, 6],
    ["y = Clip(a, $l: f32[] = {1})", 0, infinite],
    ["y = Tanh(a)", -infinite, infinite],
    ["y = Clip($c: f32[4], a)", -infinite, infinite],
  ])("of what %s reads", (body, low, high) => {
    expect(effectiveRange(firstValue(body))).toEqual({ low, high });
  });

  it("is the widest of all readers", () => {
    expect(effectiveRange(firstValue("r = Relu(a)\n h = HardSwish(a)\n y = Add(r, h)"))).toEqual({
      low: -3,
      high: infinite,
    });
  });

  it("is everything for a graph output and for a value without readers", () => {
    const { graph } = parseModel("(x: f32[4]) -> (a, y) {\n a = Neg(x)\n y = Relu(a) }");
    expect(effectiveRange(graph.firstNode!.output).low).toBe(-infinite);
    const unread = parseModel("(x: f32[4]) -> (y) {\n a = Neg(x)\n y = Relu(x) }");
    expect(effectiveRange(unread.graph.firstNode!.output).low).toBe(-infinite);
  });

  it("does not know the bounds that a model computes", () => {
    expect(effectiveRange(firstValue("m = ReduceMax<keepdims=0>(x)\n y = Clip(a, _, m)")).high).toBe(infinite);
  });
});

function tapOf(values: readonly number[]): TapStatistics {
  const tap = newTap("t");
  observeTensor(tap, Float32Array.from(values));
  return tap;
}

describe("clampTap", () => {
  const values = [-7.9, -3.5, -3, -1, 0, 0.5, 2, 7.5];
  const total = (tap: TapStatistics): number => tap.counts.reduce((sum, count) => sum + count, 0);

  it("gives the statistics of the clamped values where bounds lie between bins", () => {
    const clamped = clampTap(tapOf(values), -4, 4);
    const { counts, min, max, zeroCount } = clamped;
    expect({ min, max, zeroCount, total: total(clamped) }).toEqual({ min: -4, max: 4, zeroCount: 1, total: 8 });
    // The bound itself belongs to the next bin outward: what moved lies just inside.
    expect(counts[binsPerSide - 4 * (binsPerSide / 8)]).toBe(1);
    expect(counts[binsPerSide + 4 * (binsPerSide / 8) - 1]).toBe(1);
  });

  it("counts what a bound of 0 made zero", () => {
    const clamped = clampTap(tapOf(values), 0, Number.POSITIVE_INFINITY);
    expect(clamped).toMatchObject({ min: 0, max: 7.5, zeroCount: 5 });
    expect(clamped.counts[binsPerSide]).toBe(5);
    const negative = clampTap(tapOf(values), Number.NEGATIVE_INFINITY, 0);
    expect(negative).toMatchObject({ min: Math.fround(-7.9), max: 0, zeroCount: 4 });
    expect(negative.counts[binsPerSide]).toBe(4);
  });

  it("keeps extremes in order when every value lies beyond a bound", () => {
    expect(clampTap(tapOf([-9, -5]), -3, 3)).toMatchObject({ min: -3, max: -3 });
    expect(clampTap(tapOf([-9, -5]), 0, 3)).toMatchObject({ min: 0, max: 0, zeroCount: 2 });
  });

  it("leaves a tap inside the bounds as it is, and the given one always", () => {
    const tap = tapOf(values);
    expect(clampTap(tap, -8, 8)).toBe(tap);
    clampTap(tap, -1, 1);
    expect(tap).toEqual(tapOf(values));
  });
});
