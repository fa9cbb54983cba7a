import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { workOf } from "../../../src/pipeline/profile/operator-work.js";

/** The work of the only node; parsed results have no types, so the test says that of the result. */
function work(text: string, shape: readonly number[], dtype: "f32" | "u8" = "f32") {
  const node = parseModel(text).graph.lastNode!;
  node.output.type = { dtype, shape };
  return workOf(node);
}

describe("the work of a node", () => {
  it("of a product: two for each multiply-accumulate, all operands and the result once", () => {
    const bytes = 4 * (4 * 8 + 8 * 3 + 4 * 3);
    expect(work("(x: f32[4,8]) -> (y) { y = MatMul(x, $w: f32[8,3]) }", [4, 3])).toEqual({
      flops: 2 * 4 * 8 * 3,
      bytes,
    });
  });

  it("of attention: two products with all keys, those of the past too", () => {
    const text = `(q: f32[1,2,5,8], k: f32[1,2,7,8], v: f32[1,2,7,8], pk: f32[1,2,3,8], pv: f32[1,2,3,8]) -> (y) {
      y = Attention(q, k, v, _, pk, pv) }`;
    expect(work(text, [1, 2, 5, 8]).flops).toBe(2 * 2 * (2 * 5 * 8) * (7 + 3));
  });

  it("of a recurrent network: each step of each sequence meets every weight", () => {
    const text = "(x: f32[6,2,4]) -> (y) { y = LSTM<hidden_size=3>(x, $w: f32[1,12,4], $r: f32[1,12,3]) }";
    expect(work(text, [6, 1, 2, 3]).flops).toBe(2 * 6 * 2 * 12 * (4 + 3));
  });

  it.each([
    ["an activation", "(x: f32[2,3]) -> (y) { y = Relu(x) }", [2, 3], 6, 48],
    ["a softmax", "(x: f32[2,3]) -> (y) { y = Softmax(x) }", [2, 3], 30, 48],
    ["a reduction, by what it reads", "(x: f32[2,3]) -> (y) { y = ReduceMax(x) }", [1, 1], 6, 28],
    ["a pool, by its window", "(x: f32[1,1,4,4]) -> (y) { y = MaxPool<kernel_shape=[2,2]>(x) }", [1, 1, 3, 3], 36, 100],
    ["what only moves data", "(x: f32[2,3]) -> (y) { y = Transpose(x) }", [3, 2], 0, 48],
    ["a view, which moves nothing", "(x: f32[2,3]) -> (y) { y = Flatten(x) }", [2, 3], 0, 0],
    ["rows that are picked", "(i: i64[2]) -> (y) { y = Gather($t: f32[1000,4], i) }", [2, 4], 0, 2 * 32 + 16],
  ] as const)("of %s", (_, text, shape, flops, bytes) => {
    expect(work(text, shape)).toEqual({ flops, bytes });
  });

  it("is unknown where a shape is", () => {
    const node = parseModel("(x: f32[N,8]) -> (y) { y = MatMul(x, $w: f32[8,3]) }").graph.lastNode!;
    expect(workOf(node)).toEqual({ flops: null, bytes: null });
  });

  it("of bodies counts in them, not in the node that owns them", () => {
    const text =
      "(c: bool[], x: f32[2]) -> (y) { y = If<then_branch=() -> (a) { a = Neg(x) }, else_branch=() -> (x) { }>(c) }";
    expect(work(text, [2])).toEqual({ flops: 0, bytes: 0 });
  });
});
