import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { countMacs } from "../../src/ops/macs.js";

const macsOf = (text: string) => {
  const model = parseModel(text);
  // Parsed results have no types: the tests say them.
  return { model, count: () => countMacs(model) };
};

function counted(text: string, shape: readonly number[]) {
  const { model, count } = macsOf(text);
  model.graph.lastNode!.output.type = { dtype: "f32", shape };
  return count();
}

describe("countMacs", () => {
  it("of a grouped convolution", () => {
    const text = "(x: f32[2,8,10,10]) -> (y) { y = Conv<group=4>(x, $w: f32[16,2,3,3]) }";
    expect(counted(text, [2, 16, 8, 8]).known).toBe(2 * 16 * 8 * 8 * 2 * 3 * 3);
  });

  it("of a transposed convolution, by its input", () => {
    const text = "(x: f32[1,8,4,4]) -> (y) { y = ConvTranspose(x, $w: f32[8,6,2,2]) }";
    expect(counted(text, [1, 6, 5, 5]).known).toBe(8 * 4 * 4 * 6 * 2 * 2);
  });

  it("of a product of batches of matrices", () => {
    expect(counted("(a: f32[3,4,5], b: f32[3,5,6]) -> (y) { y = MatMul(a, b) }", [3, 4, 6]).known).toBe(3 * 4 * 6 * 5);
  });

  it("of a Gemm with a transposed first factor", () => {
    expect(counted("(a: f32[7,2], b: f32[7,3]) -> (y) { y = Gemm<transA=1>(a, b) }", [2, 3]).known).toBe(2 * 3 * 7);
  });

  it("counts nodes without shapes apart", () => {
    const { count } = macsOf("(a: f32[2,3], b: f32[3,4]) -> (y) { y = MatMul(a, b) }");
    expect(count()).toEqual({ known: 0, operators: new Map([["MatMul", 1]]), nodes: 1, unknown: 1, inLoops: 0 });
  });

  it("counts the body of a Loop once, and says so", () => {
    const { model, count } = macsOf(`(n: i64, k: bool, x: f32[2,2]) -> (y) {
      y = Loop<body=(i: i64, k_in: bool, c: f32[2,2]) -> (k_out, m) {
        k_out = Identity(k_in)
        m = MatMul(c, $w: f32[2,2])
      }>(n, k, x)
    }`);
    const [body] = model.graph.firstNode!.bodies;
    body!.lastNode!.output.type = { dtype: "f32", shape: [2, 2] };
    expect(count()).toEqual({ known: 8, operators: new Map([["MatMul", 1]]), nodes: 1, unknown: 0, inLoops: 1 });
  });
});
