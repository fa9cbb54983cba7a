import { describe, expect, it } from "vitest";
import { nodesWithin, parseModel } from "../../../src/ir/index.js";
import { toFloat16 } from "../../../src/passes/precision/to-float16.js";
import { unequalProductOf } from "../../../src/passes/precision/unequal-product.js";
import { largestDifference, runModel, seededFeeds } from "../../support/run-model.js";

const operandOf = (source: string): string | null => {
  const transpose = [...nodesWithin(parseModel(source).graph)].find((node) => node.is("Transpose"))!;
  return unequalProductOf(transpose)?.displayName ?? null;
};

const weighted = (between: string): string => `(x: f32[a,b,8]) -> (y) { ${between} y = MatMul(t, $w: f32[8,16]) }`;

describe("a Transpose that the runtime gives up on", () => {
  it.each([
    ["moves the batch behind the rows", weighted("t = Transpose<perm=[1,0,2]>(x)")],
    [
      "moves the batch behind the columns",
      "(x: f32[8,b,a]) -> (y) { t = Transpose<perm=[1,2,0]>(x) y = MatMul(t, $w: f32[8,16]) }",
    ],
    ["has more axes", "(x: f32[2,3,4,8]) -> (y) { t = Transpose<perm=[1,2,0,3]>(x) y = MatMul(t, $w: f32[8,16]) }"],
    ["is the second operand", "(x: f32[8,b,a]) -> (y) { t = Transpose<perm=[1,0,2]>(x) y = MatMul($w: f32[3,8], t) }"],
    ["has a reader that the runtime takes out", weighted("u = Transpose<perm=[1,0,2]>(x) t = Identity(u)")],
    ["is cast", weighted("u = Transpose<perm=[1,0,2]>(x) t = Cast<to=1>(u)")],
  ])("%s", (_, source) => {
    expect(operandOf(source)).toBe("MatMul:y");
  });

  it.each([
    [
      "swaps rows and columns alone",
      "(x: f32[2,8,3]) -> (y) { t = Transpose<perm=[0,2,1]>(x) y = MatMul(t, $w: f32[8,16]) }",
    ],
    [
      "moves the last axis to the front",
      "(x: f32[3,8,2]) -> (y) { t = Transpose<perm=[2,0,1]>(x) y = MatMul(t, $w: f32[8,16]) }",
    ],
    ["is a matrix", "(x: f32[8,3]) -> (y) { t = Transpose<perm=[1,0]>(x) y = MatMul(t, $w: f32[8,16]) }"],
    [
      "meets an operand of its rank",
      "(x: f32[4,2,8], w: f32[2,8,3]) -> (y) { t = Transpose<perm=[1,0,2]>(x) y = MatMul(t, w) }",
    ],
    ["is computed with first", weighted("u = Transpose<perm=[1,0,2]>(x) t = Relu(u)")],
    [
      "feeds a Gemm of another shape",
      "(x: f32[4,2,8]) -> (y) { t = Transpose<perm=[1,0,2]>(x) r = Flatten<axis=2>(t) y = Gemm(r, $w: f32[8,16]) }",
    ],
  ])("is not one that %s", (_, source) => {
    expect(operandOf(source)).toBeNull();
  });
});

describe("in half precision", () => {
  const source = weighted("t = Transpose<perm=[1,0,2]>(x)");
  const narrow = (target: "f16" | "bf16", kept: string) => {
    const model = parseModel(source);
    const report = toFloat16(model, { keepIo: true, target, keep: ({ op }) => (op === kept ? "asked for" : null) });
    return { model, ...report };
  };

  it("it stays in float32 and the product does not, so that the runtime loads it with all of its rewrites", async () => {
    const feeds = seededFeeds(parseModel(source));
    const expected = await runModel(parseModel(source), feeds);
    const { model, float, castsAdded } = narrow("f16", "nothing");
    // With another answer the runtime would end this process below.
    expect(float).toEqual([
      {
        ...{ node: "Transpose:t", op: "Transpose" },
        reason: "on x86, ONNX Runtime crashes when it opens such a Transpose in half precision before a MatMul",
      },
    ]);
    expect(castsAdded).toBe(2);
    const product = [...nodesWithin(model.graph)].find((node) => node.is("MatMul"))!;
    expect(product.inputs.map((value) => value!.dtype)).toEqual(["f16", "f16"]);
    for (const level of ["disabled", "all"] as const)
      expect(largestDifference(expected, await runModel(model, feeds, level))).toBeLessThan(4e-3);
  });

  it("it does so too before a product that stays in float32", () => {
    for (const target of ["f16", "bf16"] as const)
      expect(narrow(target, "MatMul").float.map(({ op }) => op)).toEqual(["MatMul", "Transpose"]);
  });

  it("it goes to bfloat16 with its product, which no CPU runs", () => {
    expect(narrow("bf16", "nothing").float).toEqual([]);
  });
});
