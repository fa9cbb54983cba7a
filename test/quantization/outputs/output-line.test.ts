import { describe, expect, it } from "vitest";
import { check } from "../../../src/ir/index.js";
import { lastProducts } from "../../../src/quantization/outputs/last-products.js";
import { applyOutputLines, type OutputLine, relaxed } from "../../../src/quantization/outputs/output-line.js";
import { line } from "../../support/output-line.js";
import { prepared } from "../../support/quantize-text.js";
import { runModel, seededFeeds } from "../../support/run-model.js";

describe("applyOutputLines", () => {
  it.each([
    ["Gemm", "y = Gemm(x, $w: f32[8,4], $b: f32[4])"],
    ["Gemm without a bias", "y = Gemm<transB=1>(x, $w: f32[4,8])"],
    ["before a Softmax that is undone", "g = Gemm(x, $w: f32[8,4], $b: f32[4])\n y = Identity(g)"],
  ])("draws the line: %s", async (_, body) => {
    const text = `(x: f32[3,8]) -> (y) { ${body} }`;
    const [before, after] = [await prepared(text), await prepared(text)];
    const feeds = seededFeeds(before);
    const [{ node }] = lastProducts(after) as [ReturnType<typeof lastProducts>[number]];
    const shift = [1, -2, 0.5, 0];
    applyOutputLines(after, new Map([[node.name, line(0.75, shift)]]));
    check(after.graph);
    const [y, z] = [(await runModel(before, feeds))["y"]!.f32(), (await runModel(after, feeds))["y"]!.f32()];
    z.forEach((value, i) => {
      expect(value).toBeCloseTo(0.75 * y[i]! + shift[i % 4]!, 5);
    });
  });
});

describe("relaxed", () => {
  it("lets a slope be what it is with less noise", () => {
    // Of 3 parts of signal and 1 of noise; then of a quarter of that.
    const fitted: OutputLine = {
      ...{ factor: 3 / 4, mean: Float64Array.of(7), shift: Float64Array.of(4) },
      directions: { count: 1, to: Float64Array.of(2), from: Float64Array.of(1) },
      along: { direction: Float64Array.of(1), factor: 1.2, mean: 5 },
    };
    const { factor, mean, shift, directions, along } = relaxed(fitted, 1 / 4);
    expect(factor).toBeCloseTo(3 / 3.25, 12);
    expect([mean[0], shift[0], directions!.to[0], directions!.from[0]]).toEqual([7, 1, 0.5, 1]);
    expect(along!.factor).toBeGreaterThan(1);
    expect(along!.factor).toBeLessThan(1.2);
    expect(relaxed(fitted, 1)).toEqual(fitted);
    expect(relaxed(fitted, 0)).toMatchObject({ factor: 1, along: { factor: 1 }, shift: Float64Array.of(0) });
  });
});

describe("applyOutputLines with a direction of its own", () => {
  it.each([
    ["rows", "y = Gemm<transB=1>(x, $w: f32[3,8], $b: f32[3])"],
    ["columns", "y = Gemm(x, $w: f32[8,3], $b: f32[3])"],
    ["no bias", "y = Gemm(x, $w: f32[8,3])"],
  ])("maps what the product reads: %s", async (_, body) => {
    const text = `(x: f32[4,8]) -> (y) { ${body} }`;
    const [before, after] = [await prepared(text), await prepared(text)];
    const feeds = seededFeeds(before);
    const [{ node }] = lastProducts(after) as [ReturnType<typeof lastProducts>[number]];
    const direction = Float64Array.from({ length: 8 }, (_, i) => (i % 2 ? 0.5 : 0));
    const line = {
      ...{ factor: 0.5, mean: Float64Array.of(1, 2, 3), shift: Float64Array.of(0.1, 0.2, 0.3), directions: null },
      along: { direction, factor: 0.9, mean: 0.7 },
    };
    const weight = node.inputs[1]!.constant!.f32();
    const isTurned = node.int("transB", 0) !== 0;
    applyOutputLines(after, new Map([[node.name, line]]));
    const [y, z] = [(await runModel(before, feeds))["y"]!.f32(), (await runModel(after, feeds))["y"]!.f32()];
    const x = feeds["x"]!.f32();
    z.forEach((value, i) => {
      const [row, c] = [Math.floor(i / 3), i % 3];
      const place = direction.reduce((sum, each, k) => sum + each * x[8 * row + k]!, 0) - 0.7;
      const own = direction.reduce((sum, each, k) => sum + each * weight[isTurned ? 8 * c + k : 3 * k + c]!, 0);
      const mean = line.mean[c]!;
      expect(value).toBeCloseTo(mean + 0.5 * (y[i]! - mean) + 0.4 * own * place + line.shift[c]!, 4);
    });
  });
});
