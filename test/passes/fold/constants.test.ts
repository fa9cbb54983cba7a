import { describe, expect, it } from "vitest";
import { countNodes, parseModel } from "../../../src/ir/index.js";
import { foldConstants } from "../../../src/passes/fold/constants.js";
import { runPasses } from "../../../src/rewrite/index.js";
import { evaluate } from "../../support/ask-runtime.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(foldConstants, {
  rewrites: {
    "a chain of constants": `(x: f32[N,4]) -> (y) {
      a = Exp($c: f32[4])
      b = Neg(a)
      y = Add(x, b)
    }`,
    // Not a MatMul: its kernel rounds otherwise when it can pack a constant weight beforehand.
    "a transposed weight, which goes": `(x: f32[N,300,200]) -> (y) {
      w = Transpose<perm=[1,0]>($c: f32[200,300])
      y = Add(x, w)
    }`,
    "one weight in two forms": `(x: f32[N,300,200], z: f32[N,10,300]) -> (y, u) {
      w = Transpose<perm=[1,0]>($c: f32[200,300])
      v = Slice($c, $b: i64[1] = {0}, $e: i64[1] = {10})
      y = Add(x, w)
      u = Add(z, v)
    }`,
    "a node in a body": `(x: f32[4], p: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { a = Exp($c: f32[4]) t = Add(x, a) }, else_branch=() -> (e) { e = Abs(x) }>(p)
    }`,
    "a constant output": `(x: f32[4]) -> (y, c) {
      c = Neg($w: f32[4])
      y = Abs(x)
    }`,
    "a large intermediate with a small result": `(x: f32[N]) -> (y) {
      a = ConstantOfShape($s: i64[2] = {600, 600})
      b = ReduceMean<keepdims=0>(a)
      y = Add(x, b)
    }`,
  },
  leaves: {
    "a constant that would grow the file": [
      `(x: f32[512,512]) -> (y) {
        a = ConstantOfShape($s: i64[2] = {512, 512})
        y = Add(x, a)
      }`,
      "folding it would add more than the budget allows: 1048576 bytes",
    ],
    "a tensor too large to compute": [
      `(x: f32[1]) -> (y) {
        a = Expand($c: f32[1], $s: i64[3] = {4096, 4096, 4096})
        y = Add(x, a)
      }`,
      "computing it would take too much memory: 274877906944 bytes",
    ],
    "random numbers": ["(x: f32[4]) -> (y) { r = RandomNormal<shape=[4]>() y = Add(x, r) }", null],
    "quantized weights": [
      `(x: f32[N,4]) -> (y) {
        w = DequantizeLinear($q: i8[4,4], $scale: f32[] = {0.5})
        y = MatMul(x, w)
      }`,
      null,
    ],
    "quantized weights that are widened by a product": [
      `(x: f32[N,32]) -> (y) {
        c = Cast<to=1>($q: i8[32,64])
        w = Mul(c, $scale: f32[1,64])
        y = MatMul(x, w)
      }`,
      null,
    ],
    "a default that a caller may override": ["(x: f32[4], c: f32[4]) -> (y) { a = Exp(c) y = Add(x, a) }", null],
  },
});

describe("fold-constants", () => {
  it("goes on without the group that the runtime cannot compute, and says so", async () => {
    const model = parseModel(`(x: f32[4]) -> (y) {
      a = Exp($c: f32[4])
      b = Einsum<equation="nonsense">($d: f32[4])
      s = Add(x, a)
      y = Add(s, b)
    }`);
    const [report] = await runPasses(model, [foldConstants], { evaluate, check: true });
    expect(report!.applied).toBe(1);
    expect(report!.skipped).toEqual([
      { node: "Einsum:b", reason: expect.stringMatching(/^the runtime cannot compute it: /) },
    ]);
  });

  it("names what it could compute when no runtime is at hand", async () => {
    const model = parseModel("(x: f32[4]) -> (y) { a = Exp($c: f32[4]) y = Add(x, a) }");
    const [report] = await runPasses(model, [foldConstants], { check: true });
    expect(report!.skipped).toEqual([{ node: "Exp:a", reason: "no runtime is at hand to compute it" }]);
    expect(countNodes(model.graph)).toBe(2);
  });

  it("shares the budget between rounds and runs", async () => {
    const model = parseModel(`(x: f32[100]) -> (y, z) {
      a = ConstantOfShape($s: i64[1] = {100})
      b = Expand($c: f32[1], $t: i64[1] = {100})
      y = Add(x, a)
      z = Add(x, b)
    }`);
    const [report] = await runPasses(model, [foldConstants], { evaluate, check: true, foldGrowthBytes: 500 });
    expect(report!.applied).toBe(1);
    expect(report!.skipped).toHaveLength(1);
  });

  it("stops after the applications that the caller allows", async () => {
    const model = parseModel(`(x: f32[4]) -> (y) {
      a = Exp($c: f32[4])
      b = Neg($c)
      s = Add(x, a)
      y = Add(s, b)
    }`);
    const maxApplications = new Map([["fold-constants", 1]]);
    const [report] = await runPasses(model, [foldConstants], { evaluate, check: true, maxApplications });
    expect(report!.applied).toBe(1);
    expect(countNodes(model.graph)).toBe(3);
  });

  it("puts what two branches make of an outer weight where both see it", async () => {
    const model = parseModel(`(x: f32[N,300], w0: f32[1], p: bool[]) -> (y) {
      k = Neg($w: f32[200,300])
      y = If<
        then_branch=() -> (t) { a = Transpose<perm=[1,0]>(k) t = MatMul(x, a) },
        else_branch=() -> (e) { b = Transpose<perm=[1,0]>(k) m = MatMul(x, b) e = Neg(m) }>(p)
    }`);
    await runPasses(model, [foldConstants], { evaluate, check: true });
    expect(model.graph.constants.map(({ shape }) => shape)).toEqual([[300, 200]]);
    expect(countNodes(model.graph)).toBe(4);
  });
});
