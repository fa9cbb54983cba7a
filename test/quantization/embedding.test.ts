import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { quantizeEmbeddings } from "../../src/quantization/embedding.js";
import type { NodeChoice } from "../../src/quantization/node-choice.js";
import { errorOf, prepared } from "../support/quantize-text.js";
import { seededFeeds } from "../support/run-model.js";

async function quantized(text: string, options: NodeChoice = {}, opset?: number) {
  const [float, model] = [await prepared(text, opset), await prepared(text, opset)];
  const report = quantizeEmbeddings(model, options);
  check(model.graph);
  return { float, model, report, feeds: seededFeeds(float) };
}

describe("tables that are looked up", () => {
  const table = "$t: f32[1024,64]";

  it("become integers with a scale per row, and are close to float", async () => {
    const { float, model, report, feeds } = await quantized(`(i: i64[2,3]) -> (y) { y = Gather(${table}, i) }`);
    expect(report.quantized).toEqual(["Gather:y"]);
    expect(model.graph.constants.map((value) => value.dtype).sort()).toEqual(["f32", "i8"]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.01);
  });

  describe("that are only converted", () => {
    const scheme = "$s: f32[] = {0.011}, $z: u8[] = {117}";
    const text = (converted: string, of = "g") => `(i: i64[2,3]) -> (y) {
      g = Gather(${table}, i)
      ${converted}
      q = QuantizeLinear(${of}, ${scheme})
      y = DequantizeLinear(q, $s, $z)
    }`;

    it.each([
      ["as they are", text("")],
      ["behind what moves them", text("m = Transpose<perm=[0,2,1]>(g) r = Reshape(m, $shape: i64[2] = {2,-1})", "r")],
      ["to signed integers", text("").replace("$z: u8[] = {117}", "$z: i8[] = {0}")],
    ])("have these integers, %s", async (_, given) => {
      const { float, model, report, feeds } = await quantized(given);
      expect(report.quantized).toEqual(["Gather:g"]);
      expect([...model.graph.nodes()].map(({ op }) => op)).not.toContain("QuantizeLinear");
      expect(await errorOf(float, model, feeds)).toBe(0);
    });

    it.each([
      ["Flatten", "m = Flatten(g)"],
      ["Unsqueeze", "m = Unsqueeze(g, $axes: i64[1] = {1})"],
      ["Squeeze", "m = Squeeze(g, $axes: i64[1] = {0})"],
    ])("go through %s, and keep their names", async (_, line) => {
      const { float, model, feeds } = await quantized(text(line, "m").replace("i64[2,3]", "i64[1,3]"));
      expect([...model.graph.nodes()].map(({ output }) => output.label)).toEqual(["g/quantized", "q", "y"]);
      expect(await errorOf(float, model, feeds)).toBe(0);
    });

    it.each([
      ["16 bits", "u16[] = {117}"],
      ["float8", "f8e4m3fn[]"],
    ])("have a scale per row where they become integers of %s", async (_, type) => {
      const { model } = await quantized(text("").replace("u8[] = {117}", type), {}, 21);
      expect([...model.graph.nodes()].map(({ op }) => op)).toEqual(expect.arrayContaining(["Mul", "QuantizeLinear"]));
    });

    it.each([
      ["somebody else reads them", `${text("").replace("(y)", "(y, k)").slice(0, -1)} k = Relu(g) }`],
      ["they are a result", text("").replace("(y)", "(y, g)")],
      ["something is computed first", text("a = Relu(g)", "a")],
      ["another look-up has the table", text("o = Gather($t, i) k = Relu(o)").replace("(y)", "(y, k)")],
      [
        "each channel has its own scale",
        text("").replace("$s: f32[] = {0.011}, $z: u8[] = {117}", "$s: f32[64], $z: u8[64]"),
      ],
    ])("have a scale per row where %s", async (_, given) => {
      const { model, report } = await quantized(given);
      expect(report.quantized).toContain("Gather:g");
      expect([...model.graph.nodes()].map(({ op }) => op)).toContain("Mul");
    });
  });

  it("are stored once for several readers", async () => {
    const { model } = await quantized(
      `(i: i64[2], j: i64[2]) -> (y) { a = Gather(${table}, i)\n b = Gather($t, j)\n y = Add(a, b) }`,
    );
    expect(model.graph.constants.filter((value) => value.dtype === "i8")).toHaveLength(1);
  });

  it.each([
    ["small ones", "(i: i64[2]) -> (y) { y = Gather($t: f32[64,64], i) }"],
    ["those looked up along another axis", `(i: i64[2]) -> (y) { y = Gather<axis=1>(${table}, i) }`],
    ["vectors", "(i: i64[2]) -> (y) { y = Gather($t: f32[65536], i) }"],
    ["activations", "(i: i64[2], t: f32[1024,64]) -> (y) { y = Gather(t, i) }"],
  ])("stay float: %s", async (_, text) => {
    expect((await quantized(text)).report.quantized).toEqual([]);
  });

  it("stay float when they are not wanted", async () => {
    const text = `(i: i64[2]) -> (y) { y = Gather(${table}, i) }`;
    const unwanted = await quantized(text, { takes: () => false });
    expect(unwanted.report).toEqual({ quantized: [], float: [] });
    const kept = await quantized(text, { keepFloat: new Map([["Gather:y", "said so"]]) });
    expect(kept.report).toEqual({ quantized: [], float: [{ node: "Gather:y", op: "Gather", reason: "said so" }] });
  });
});
