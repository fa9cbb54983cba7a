import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { estimateTimes } from "../../src/pipeline/estimated-times.js";
import { regionsOf } from "../../src/pipeline/regions.js";
import { makeNamesUnique } from "../../src/quantization/names.js";
import type { Form } from "../../src/quantization/recipe.js";
import type { KernelTimes } from "../../src/target/kernel-times.js";

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
const kernelTimes: KernelTimes = (node, { read, made }) =>
  node.is("Conv") ? { floatMs: read, integerMs: made } : null;

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
