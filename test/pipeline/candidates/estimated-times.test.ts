import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { estimateTimes } from "../../../src/pipeline/candidates/estimated-times.js";
import { regionsOf } from "../../../src/pipeline/candidates/regions.js";
import type { Form } from "../../../src/quantization/form.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import type { KernelTimes } from "../../../src/target/kernel-times.js";

/** A product whose activation is part of its kernel, an operator that no table knows, and a product behind it. */
const model = parseModel(`(x: f32[1,4,8,8]) -> (y) {
  a = Conv(x, $w: f32[4,4,1,1])
  r = Relu(a)
  e = Erf(r)
  y = Conv(e, $v: f32[4,4,1,1])
}`);
makeNamesUnique(model);

const elements: Readonly<Record<string, number>> = { x: 100, r: 200, e: 1000, y: 50 };
/** What is read and made are the times. */
const kernelTimes: KernelTimes = {
  node: (node, { read, made }) => (node.is("Conv") ? { floatMs: read, integerMs: made } : null),
  conversionMs: (count, integer, floats) => count + (integer.is("Conv") ? 1e4 : 0) + 1e5 * floats.length,
  activationMs: ({ op }) => (op === "HardSwish" ? 7 : 0),
  paddedDepth: () => 0,
  widened: (node) => node.int("group", 1),
};

function estimate(forms: Readonly<Record<string, Form>>) {
  const given = new Map(Object.entries(forms));
  const regions = regionsOf(model, new Set(given.keys()));
  return estimateTimes(model, regions, given, kernelTimes, (label) => elements[label] ?? 0);
}

describe("estimateTimes", () => {
  it("adds up what the table says, and takes the size of what an activation makes for that of its kernel", () => {
    const { floatMs, ownMs, regions } = estimate({ "Conv:a": "static", "Conv:y": "static" });
    expect(floatMs).toBe(1100);
    expect(regions.get("Conv:a")).toMatchObject({ beforeMs: 100, kernelMs: 200 });
    expect(regions.get("Conv:y")).toMatchObject({ beforeMs: 1000, kernelMs: 50 });
    const conversions = [...regions.values()].reduce((sum, { conversionMs }) => sum + conversionMs, 0);
    expect(conversions).toBeGreaterThan(0);
    expect(ownMs).toBeCloseTo(250 + conversions);
  });

  it("converts a tensor for the region at its one end, and says which nodes are at the other", () => {
    const { regions } = estimate({ "Conv:y": "static" });
    // The tensor comes of an Erf; behind the output there is nothing.
    expect(regions.get("Conv:y")!.conversionMs).toBe(1000 + 1e4 + 1e5);
    expect(estimate({ "Conv:a": "static" }).regions.get("Conv:a")!.conversionMs).toBe(100 + 1e4 + (200 + 1e4 + 1e5));
  });

  it("converts a tensor once, however many regions read it", () => {
    const fork = parseModel(`(x: f32[1,4,8,8]) -> (y, z) {
      e = Erf(x)
      y = Conv(e, $w: f32[4,4,1,1])
      z = Conv(e, $v: f32[4,4,1,1])
    }`);
    makeNamesUnique(fork);
    const forms = new Map<string, Form>([
      ["Conv:y", "static"],
      ["Conv:z", "static"],
    ]);
    const regions = regionsOf(fork, new Set(forms.keys()));
    const times = estimateTimes(fork, regions, forms, { ...kernelTimes, conversionMs: (count) => count }, () => 1);
    expect([...times.regions.values()].map(({ conversionMs }) => conversionMs)).toEqual([1, 0]);
  });

  it.each([
    ["an integer Conv", ["Conv:a", "MaxPool:p"], "Relu(a)", false],
    ["an Add of two", ["Conv:a", "Conv:b", "Add:r", "MaxPool:p"], "Add(a, b)", false],
    ["an Add of one and of a float Conv", ["Conv:a", "Add:r", "MaxPool:p"], "Add(a, b)", true],
    ["an Add of one and of an input", ["Conv:a", "Add:r", "MaxPool:p"], "Add(a, x)", true],
    ["a float Conv", ["Conv:b", "MaxPool:p"], "Relu(a)", true],
    ["an input", ["MaxPool:p"], "Sigmoid(x)", true],
    ["a float activation", ["Conv:a", "MaxPool:p"], "HardSwish(a)", false],
    ["a float Resize", ["Conv:a", "MaxPool:p"], "Resize(a, _, $s: f32[4] = {1.0,1.0,2.0,2.0})", true],
    ["a gate that is float", ["Conv:a", "Mul:r", "MaxPool:p"], "Mul(a, z)", false],
    ["an AveragePool that is a Conv", ["AveragePool:r", "MaxPool:p"], "AveragePool<kernel_shape=[2,2]>(x)", false],
    ["a ConvTranspose", ["ConvTranspose:r", "MaxPool:p"], "ConvTranspose<strides=[2,2]>(x, $t: f32[4,4,2,2])", false],
    [
      "a Slice",
      ["Conv:a", "Slice:r", "MaxPool:p"],
      "Slice(a, $s: i64[1] = {0}, $e: i64[1] = {2}, $axis: i64[1] = {1})",
      false,
    ],
    ["what nobody knows", ["Conv:a", "MaxPool:p"], "Transpose<perm=[0,1,3,2]>(a)", false],
  ])("knows where channels lie of what a pool of integers reads behind %s", (_, integers, text, expected) => {
    const pooled = parseModel(`(x: f32[1,4,8,8], z: f32[1,4,1,1]) -> (y, b) {
      a = Conv(x, $w: f32[4,4,1,1])
      b = Conv(x, $v: f32[4,4,1,1])
      r = ${text}
      p = MaxPool<kernel_shape=[2,2]>(r)
      y = Erf(p)
    }`);
    makeNamesUnique(pooled);
    const forms = new Map<string, Form>(integers.map((name) => [name, "static"] as const));
    const asked: unknown[] = [];
    const node: KernelTimes["node"] = (each, { channelsFirst }) => {
      if (each.is("MaxPool")) asked.push(channelsFirst);
      return { floatMs: 1, integerMs: 1 };
    };
    estimateTimes(pooled, regionsOf(pooled, new Set(forms.keys())), forms, { ...kernelTimes, node }, () => 1);
    expect(asked).toEqual([expected]);
  });

  it("counts what a float kernel would compute on the way with the integers that leave it to others", () => {
    const swish = parseModel("(x: f32[1,4,8,8]) -> (y) { a = Conv(x, $w: f32[4,4,1,1])\n y = HardSwish(a) }");
    makeNamesUnique(swish);
    const own = (forms: ReadonlyMap<string, Form>): number =>
      estimateTimes(
        swish,
        regionsOf(swish, new Set(forms.keys())),
        forms,
        { ...kernelTimes, conversionMs: () => 0 },
        (label) => elements[label] ?? 0,
      ).ownMs;
    expect(own(new Map([["Conv:a", "static"]]))).toBe(50 + 7);
    expect(own(new Map())).toBe(100);
  });

  it("tells the table how many weights the whole model has", () => {
    const seen: number[] = [];
    const node: KernelTimes["node"] = (_, { weights }) => {
      seen.push(weights);
      return null;
    };
    estimateTimes(model, [], new Map(), { ...kernelTimes, node }, () => 1);
    expect(new Set(seen)).toEqual(new Set([32]));
  });

  it("counts what is float as float, and no conversion of weights alone", () => {
    const { ownMs, regions } = estimate({ "Conv:a": "static" });
    expect(ownMs).toBeCloseTo(200 + 1000 + regions.get("Conv:a")!.conversionMs);
    const stored = estimate({ "Conv:y": "weights8" });
    expect([stored.ownMs, stored.regions.get("Conv:y")]).toEqual([
      1100,
      { beforeMs: 1000, kernelMs: 1000, conversionMs: 0 },
    ]);
  });
});
