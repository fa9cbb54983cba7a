import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin } from "../../src/ir/index.js";
import { newTap, observeTensor } from "../../src/observe/index.js";
import { applyRecipe } from "../../src/quantization/apply-recipe.js";
import { activationsOf } from "../../src/quantization/insert-qdq.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import { productWeight } from "../../src/quantization/product-weight.js";
import { type Recipe, staticRecipe, uniformRecipe, withForms } from "../../src/quantization/recipe.js";
import { tapValues } from "../../src/rewrite/tap-model.js";
import { errorOf, opsOf, optimizedByRuntime, prepared, safeTarget } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";

const placement = { neighbours: true, depthwise: true };
const statics = staticRecipe({ placement, method: "minmax" });
const TABLE = "$t: f32[1100,64]";
const tied = (end: string): string => `(i: i64[2,3]) -> (y) {
  e = Gather(${TABLE}, i)
  h = MatMul(e, $w: f32[64,64])
  ${end} }`;
const behindTranspose = tied("u = Transpose<perm=[1,0]>($t)\n y = MatMul(h, u)");
const inGemm = tied("r = Reshape(h, $s: i64[2] = {6,64})\n y = Gemm<transB=1>(r, $t)");

async function made(recipe: Recipe, text: string, keepFloat: ReadonlyMap<string, string> = new Map()) {
  const [float, model, tapped] = [await prepared(text), await prepared(text), await prepared(text)];
  const feeds = seededFeeds(float);
  const names = tapValues(tapped, activationsOf(planStatic(tapped, safeTarget, placement)));
  const results = { ...feeds, ...(await runModel(tapped, feeds)) };
  const taps = new Map(
    [...names].map(([label, name]) => {
      const tap = newTap(label);
      observeTensor(tap, results[name]!.f32());
      return [label, tap] as const;
    }),
  );
  const { forms } = applyRecipe(model, recipe, { target: safeTarget, taps, keepFloat });
  check(model.graph);
  return { forms: Object.fromEntries(forms), model, error: await errorOf(float, model, feeds) };
}

const large = ({ graph }: Model): string[] =>
  graph.constants.filter((value) => value.constant!.elementCount >= 64 * 1100).map(({ dtype }) => dtype!);

describe("weights that a table's look-up and a product share", () => {
  it.each([
    ["dynamic", uniformRecipe("dynamic"), "dynamic"],
    ["dynamic by row", withForms(uniformRecipe("dynamic"), new Map([["MatMul:y", "dynamicRows"]])), "dynamicRows"],
    ["static around", statics, "dynamic"],
    ["weights", uniformRecipe("weights8"), "weights8"],
    ["blocks, which no kernel takes turned", uniformRecipe("weights4"), "weights8"],
  ] as const)("%s: are stored once, behind a Transpose", async (_, recipe, form) => {
    const { forms, model, error } = await made(recipe, behindTranspose);
    expect(forms).toMatchObject({ "MatMul:y": form, "Gather:e": "weights8" });
    expect(large(model)).toEqual(["i8"]);
    expect(error).toBeLessThan(0.04);
  });

  it("are stored once where a Gemm turns them itself", async () => {
    for (const recipe of [uniformRecipe("dynamic"), statics]) {
      const { forms, model, error } = await made(recipe, inGemm);
      expect(forms).toMatchObject({ "Gemm:y": "dynamic", "Gather:e": "weights8" });
      expect(large(model)).toEqual(["i8"]);
      expect(error).toBeLessThan(0.04);
    }
  });

  it("are turned by the runtime when it loads the model", async () => {
    const { model } = await made(uniformRecipe("dynamic"), behindTranspose);
    const ops = opsOf(await optimizedByRuntime(model));
    expect(ops.filter((op) => op === "DynamicQuantizeMatMul")).toHaveLength(2);
    expect(ops).not.toContain("Transpose");
    const weights = await made(uniformRecipe("weights8"), behindTranspose);
    expect(opsOf(await optimizedByRuntime(weights.model))).not.toContain("Transpose");
  });

  it("give the node that stays float its own", async () => {
    const kept = new Map([["MatMul:y", "said so"]]);
    for (const recipe of [uniformRecipe("dynamic"), uniformRecipe("weights8")]) {
      const { forms, model } = await made(recipe, behindTranspose, kept);
      expect(forms["MatMul:y"]).toBeUndefined();
      expect(large(model).sort()).toEqual(["f32", "i8"]);
      expect(opsOf(model)).toContain("Transpose");
    }
  });

  it("leave what else reads the Transpose in float", async () => {
    const text = `(x: f32[3,64]) -> (y, z) {
      $t: f32[64,64]
      u = Transpose($t)
      y = MatMul(x, u)
      z = Neg(u) }`;
    for (const recipe of [uniformRecipe("dynamic"), uniformRecipe("weights8")]) {
      const { model, forms } = await made(recipe, text);
      expect(Object.keys(forms)).toEqual(["MatMul:y"]);
      const negated = [...nodesWithin(model.graph)].find((node) => node.is("Neg"))!;
      expect(negated.inputs[0]!.producer!.inputs[0]!.constant!.dtype).toBe("f32");
    }
  });

  it.each([
    ["a factor that is computed", "(x: f32[3,4], t: f32[5,4]) -> (y) { u = Transpose(t)\n y = MatMul(x, u) }"],
    ["three axes", "(x: f32[2,3,4]) -> (y) { u = Transpose<perm=[0,2,1]>($t: f32[2,5,4])\n y = MatMul(x, u) }"],
    ["nothing turned", "(x: f32[3,4]) -> (y) { u = Transpose<perm=[0,1]>($t: f32[4,5])\n y = MatMul(x, u) }"],
  ])("are not found in %s", async (_, text) => {
    const model = await prepared(text);
    const product = [...nodesWithin(model.graph)].find((node) => node.is("MatMul"))!;
    expect(productWeight(product)).toBeNull();
  });
});
