import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin } from "../../src/ir/index.js";
import { applyRecipe } from "../../src/quantization/apply-recipe.js";
import { takesNibbles } from "../../src/quantization/nibble-table.js";
import { uniformRecipe } from "../../src/quantization/recipe.js";
import { errorOf, opsOf, prepared, relativeError, safeTarget } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";

async function stored(text: string, opset = 21) {
  const [float, model] = [await prepared(text, opset), await prepared(text, opset)];
  const { forms } = applyRecipe(model, uniformRecipe("weights4"), {
    target: safeTarget,
    taps: null,
    keepFloat: new Map(),
  });
  check(model.graph);
  return { float, model, forms: Object.fromEntries(forms) };
}

const bytesOf = ({ graph }: Model): number =>
  graph.constants.reduce((sum, value) => sum + value.constant!.bytes().length, 0);
const elements = 1100 * 64;

describe("tables of 4 bits", () => {
  it.each([
    ["indices in a vector", "(i: i64[3]) -> (y) { y = Gather($t: f32[1100,64], i) }"],
    ["indices of three axes, one open", "(i: i64[2,N,2]) -> (y) { y = Gather($t: f32[1100,64], i) }"],
    ["one index", "(i: i64[]) -> (y) { y = Gather($t: f32[1100,64], i) }"],
    ["rows that are matrices", "(i: i64[3]) -> (y) { y = Gather($t: f32[1100,4,16], i) }"],
    ["halves of rows that end within a block", "(i: i64[3]) -> (y) { y = Gather($t: f32[1500,48], i) }"],
    ["rows of one block", "(i: i64[3]) -> (y) { y = Gather($t: f32[5000,16], i) }"],
    [
      "a body",
      `(i: i64[3], c: bool) -> (y) { $t: f32[1100,64]
      y = If<then_branch=() -> (a) { a = Gather($t, i) }, else_branch=() -> (b) { g = Gather($t, i)\n b = Neg(g) }>(c) }`,
    ],
  ])("%s: load, are a fifth of the size, and are close to float", async (_, text) => {
    const { float, model, forms } = await stored(text);
    expect(new Set(Object.values(forms))).toEqual(new Set(["weights4"]));
    expect(bytesOf(model)).toBeLessThan(0.17 * bytesOf(float));
    const error = await errorOf(float, model, seededFeeds(float));
    expect(error).toBeLessThan(0.12);
    expect(error).toBeGreaterThan(0);
  });

  it("hold every integer in its place", async () => {
    // Multiples of one number, as many as there are integers: nothing is lost but the last digits of the scale.
    const values = Array.from({ length: elements }, (_, i) => (i % 16 === 0 ? 7 : ((i * 5) % 15) - 7));
    const { float, model } = await stored(
      `(i: i64[40]) -> (y) { y = Gather($t: f32[1100,64] = {${values.join(",")}}, i) }`,
    );
    const feeds = seededFeeds(float);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(1e-3);
  });

  it("keep scales in 32 bits where 16 lose digits", async () => {
    const values = Array.from({ length: elements }, (_, i) => (((i * 5) % 15) - 7) * 1e-7);
    const { float, model } = await stored(
      `(i: i64[40]) -> (y) { y = Gather($t: f32[1100,64] = {${values.join(",")}}, i) }`,
    );
    expect(model.graph.constants.map(({ dtype }) => dtype)).not.toContain("f16");
    const feeds = seededFeeds(float);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(1e-3);
  });

  it("are stored once for several readers, in standard operators", async () => {
    const { model } = await stored(
      "(i: i64[2], j: i64[2]) -> (y) { a = Gather($t: f32[1100,64], i)\n b = Gather($t, j)\n y = Add(a, b) }",
    );
    expect(model.graph.constants.filter(({ constant }) => constant!.elementCount === elements / 2)).toHaveLength(1);
    expect([...nodesWithin(model.graph)].filter(({ domain }) => domain !== "")).toEqual([]);
  });

  it.each([
    ["no whole blocks in a row", "(i: i64[3]) -> (y) { y = Gather($t: f32[3000,24], i) }", 21],
    ["an opset without BitwiseAnd", "(i: i64[3]) -> (y) { y = Gather($t: f32[1100,64], i) }", 17],
    [
      "a product that reads it too",
      "(i: i64[3]) -> (y) { e = Gather($t: f32[1100,64], i)\n u = Transpose($t)\n y = MatMul(e, u) }",
      21,
    ],
  ])("are of 8 bits with %s", async (_, text, opset) => {
    const { float, model, forms } = await stored(text, opset);
    expect(forms["Gather:y"] ?? forms["Gather:e"]).toBe("weights8");
    expect(opsOf(model)).not.toContain("BitwiseAnd");
    expect(await errorOf(float, model, seededFeeds(float))).toBeLessThan(0.02);
  });

  it("want indices of a known rank", async () => {
    const model = await prepared(
      "(x: f32[N]) -> (y) { n = NonZero(x)\n i = Squeeze(n)\n y = Gather($t: f32[1100,64], i) }",
    );
    const gather = [...nodesWithin(model.graph)].find((node) => node.is("Gather"))!;
    expect(gather.inputs[1]!.shape).toBeNull();
    expect(takesNibbles(gather, 21)).toBe(false);
  });
});
