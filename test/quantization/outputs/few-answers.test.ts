import { describe, expect, it } from "vitest";
import { check } from "../../../src/ir/index.js";
import { inputsOfFewAnswers, tellInputs } from "../../../src/quantization/outputs/few-answers.js";
import { prepared } from "../../support/quantize-text.js";

const labels = async (text: string): Promise<ReadonlySet<string>> =>
  new Set([...inputsOfFewAnswers(await prepared(text)).values()].map(({ label }) => label));

const shallow = "c = Conv(x, $k: f32[32,3,3,3])\n p = GlobalAveragePool(c)\n f = Flatten(p)";
const features = `a = Conv(x, $i: f32[3,3,1,1])\n b = Conv(a, $j: f32[3,3,1,1])\n d = Conv(b, $l: f32[3,3,1,1])\n ${shallow.replace("x", "d")}`;

describe("inputsOfFewAnswers", () => {
  it.each([
    ["two logits", `(x: f32[1,3,8,8]) -> (y) { ${features}\n y = Gemm(f, $w: f32[32,2], $v: f32[2]) }`],
    ["probabilities", `(x: f32[1,3,8,8]) -> (y) { ${features}\n g = Gemm(f, $w: f32[32,2])\n y = Softmax(g) }`],
    [
      "two heads of the same features",
      `(x: f32[1,3,8,8]) -> (y, z) { ${features}\n y = Gemm(f, $w: f32[32,2])\n z = Gemm(f, $v: f32[32,1]) }`,
    ],
  ])("are what the last products read, of %s", async (_, text) => {
    expect(await labels(text)).toEqual(new Set(["f"]));
  });

  it.each([
    ["there are many answers", `(x: f32[1,3,8,8]) -> (y) { ${features}\n y = Gemm(f, $w: f32[32,100]) }`],
    ["they read hardly more", `(x: f32[1,3,8,8]) -> (y) { ${features}\n y = Gemm(f, $w: f32[32,10]) }`],
    ["how many there are is not known", `(x: f32[1,3,N,8]) -> (y) { y = Conv(x, $k: f32[1,3,1,1]) }`],
    ["few products come before", `(x: f32[1,3,8,8]) -> (y) { ${shallow}\n y = Gemm(f, $w: f32[32,2]) }`],
    [
      "one of them reads what is an answer itself",
      `(x: f32[1,3,8,8]) -> (y, z) { ${features}\n y = Gemm(f, $w: f32[32,8])\n z = Gemm(y, $v: f32[8,2]) }`,
    ],
    ["they read an input of the model", "(x: f32[1,32]) -> (y) { y = Gemm(x, $w: f32[32,2]) }"],
    [
      "something else makes another answer",
      `(x: f32[1,3,8,8]) -> (y, z) { ${features}\n y = Gemm(f, $w: f32[32,2])\n z = ReduceMax(c) }`,
    ],
  ])("are none where %s", async (_, text) => {
    expect(await labels(text)).toEqual(new Set());
  });
});

describe("tellInputs", () => {
  const text = `(x: f32[1,3,8,8]) -> (y) { ${features}\n y = Gemm(f, $w: f32[32,2]) }`;

  it("makes them outputs by the labels of the float model", async () => {
    const model = await prepared(text);
    const [product] = inputsOfFewAnswers(model).keys();
    expect(tellInputs(model, new Map([[product!, "told"]]))).toBe(true);
    expect(model.graph.outputs.map(({ name, value }) => [name, value.label])).toEqual([
      ["y", "y"],
      ["told", "f"],
    ]);
    check(model.graph);
  });

  it("changes nothing where a product is missing", async () => {
    const model = await prepared(text);
    const [product] = inputsOfFewAnswers(model).keys();
    const wanted = new Map([
      [product!, "told"],
      ["elsewhere", "other"],
    ]);
    expect(tellInputs(model, wanted)).toBe(false);
    expect(model.graph.outputs).toHaveLength(1);
  });
});
