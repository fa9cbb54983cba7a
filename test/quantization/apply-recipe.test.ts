import { describe, expect, it } from "vitest";
import { check, nodesWithin } from "../../src/ir/index.js";
import { newTap, observeTensor } from "../../src/observe/index.js";
import { applyRecipe } from "../../src/quantization/apply-recipe.js";
import { activationsOf } from "../../src/quantization/insert-qdq.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import {
  carefulWeights,
  modeOfFile,
  type Recipe,
  staticRecipe,
  uniformRecipe,
  withForms,
} from "../../src/quantization/recipe.js";
import { tapValues } from "../../src/rewrite/tap-model.js";
import { errorOf, prepared, safeTarget } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";

const chain = `(x: f32[4,64]) -> (y) {
  a = MatMul(x, $w: f32[64,64])
  b = Relu(a)
  c = MatMul(b, $v: f32[64,64])
  y = MatMul(c, $u: f32[64,64])
}`;
const placement = { neighbours: true, depthwise: true };
const statics = staticRecipe({ placement, method: "minmax" });

async function made(recipe: Recipe, text = chain, keepFloat: ReadonlyMap<string, string> = new Map()) {
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
  const report = applyRecipe(model, recipe, { target: safeTarget, taps, keepFloat });
  check(model.graph);
  const count = (op: string): number => [...nodesWithin(model.graph)].filter((node) => node.is(op)).length;
  return { report, count, model, error: await errorOf(float, model, feeds) };
}

describe("applyRecipe", () => {
  it("gives each node its own form, and says which", async () => {
    const recipe = withForms(
      statics,
      new Map([
        ["MatMul:c", "dynamic"],
        ["MatMul:y", "weights8"],
      ]),
    );
    const { report, count, error } = await made(recipe);
    expect([...report.forms]).toEqual([
      ["MatMul:a", "static"],
      ["MatMul:c", "dynamic"],
      ["MatMul:y", "weights8"],
    ]);
    expect([count("MatMulInteger"), count("MatMul"), count("DynamicQuantizeLinear")]).toEqual([1, 2, 1]);
    expect(report.float).toEqual([]);
    expect(error).toBeLessThan(0.05);
    expect(modeOfFile(recipe, report.forms.values())).toBe("mixed");
  });

  it("quantizes some nodes of a float model", async () => {
    const { report, count } = await made(withForms(uniformRecipe("float"), new Map([["MatMul:c", "dynamic"]])));
    expect([...report.forms]).toEqual([["MatMul:c", "dynamic"]]);
    expect([count("MatMulInteger"), count("MatMul")]).toEqual([1, 2]);
    expect(report.float.map(({ node, reason }) => [node, reason])).toEqual([
      ["MatMul:a", "nothing smaller was chosen for it"],
      ["MatMul:y", "nothing smaller was chosen for it"],
    ]);
  });

  it("keeps float what it is told to, whatever the form", async () => {
    const recipe = withForms(statics, new Map([["MatMul:c", "dynamic"]]));
    const kept = new Map(["MatMul:a", "MatMul:c"].map((node) => [node, "said so"]));
    const { report } = await made(recipe, chain, kept);
    expect([...report.forms.keys()]).toEqual(["MatMul:y"]);
    expect(report.float.map(({ node, reason }) => [node, reason])).toEqual([
      ["MatMul:a", "said so"],
      ["MatMul:c", "said so"],
    ]);
  });

  it("stores tables beside any arithmetic, and leaves what it made itself alone", async () => {
    // The table's scales, one per row, are a large table too.
    const text = `(i: i64[2], x: f32[2,16]) -> (y, z) {
      y = Gather($t: f32[70000,2], i)
      z = MatMul(x, $w: f32[16,128])
    }`;
    const { report, count, model } = await made(
      withForms(uniformRecipe("weights8"), new Map([["Gather:y", "dynamic"]])),
      text,
    );
    expect(Object.fromEntries(report.forms)).toEqual({ "Gather:y": "weights8", "MatMul:z": "weights8" });
    expect(count("Gather")).toBe(2);
    expect(model.graph.constants.filter(({ dtype }) => dtype === "i8")).toHaveLength(2);
  });

  it("is careful with convolutions and recurrent operators where weights alone are stored", async () => {
    const text = `(x: f32[1,16,4,4], z: f32[3,32]) -> (y, m) {
      y = Conv(x, $w: f32[64,16,1,1])
      m = MatMul(z, $v: f32[32,64])
    }`;
    const { report, model, error } = await made(carefulWeights(await prepared(text), 8), text);
    expect(Object.fromEntries(report.forms)).toEqual({ "Conv:y": "weights16", "MatMul:m": "weights8" });
    expect(model.graph.constants.map(({ dtype }) => dtype).filter((dtype) => dtype !== "f32")).toEqual(["i16", "i8"]);
    expect(error).toBeLessThan(0.01);
  });

  it("says 8 bits of what no kernel reads in blocks of 4", async () => {
    const text = `(x: f32[1,16,4,4], z: f32[3,32]) -> (y, m) {
      y = Conv(x, $w: f32[64,16,1,1])
      m = Gemm(z, $v: f32[32,40]) }`;
    const model = await prepared(text, 21);
    const options = { target: safeTarget, taps: null, keepFloat: new Map() };
    const { forms } = applyRecipe(model, uniformRecipe("weights4"), options);
    expect(Object.fromEntries(forms)).toEqual({ "Conv:y": "weights8", "Gemm:m": "weights4" });
  });

  it("lists recurrent operators that stay float", async () => {
    const text =
      "(x: f32[5,1,16]) -> (y, m) { y = LSTM<hidden_size=16>(x, $w: f32[1,64,16], $r: f32[1,64,16])\n m = MatMul(x, $v: f32[16,16]) }";
    for (const recipe of [uniformRecipe("dynamic"), statics]) {
      const { report } = await made(recipe, text);
      expect(report.float).toContainEqual(expect.objectContaining({ node: "LSTM:y", op: "LSTM" }));
    }
  });

  it("names the mode of a file by what was made", () => {
    const recipe = withForms(statics, new Map([["a", "dynamic"]]));
    expect(modeOfFile(recipe, ["static", "weights8"])).toBe("static");
    expect(modeOfFile(recipe, ["dynamic"])).toBe("dynamic");
    expect(modeOfFile(uniformRecipe("weights4"), ["weights4"])).toBe("weights");
  });
});
