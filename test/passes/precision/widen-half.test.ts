import { describe, expect, it } from "vitest";
import { parseModel, printGraph } from "../../../src/ir/index.js";
import { widenHalf } from "../../../src/passes/precision/widen-half.js";
import { runPasses } from "../../../src/rewrite/index.js";
import { testRewrite } from "../../support/test-rewrite.js";

const inBody = (type: string): string => `(x: ${type}[N,4]) -> (y) {
  v = Mul(x, $w: ${type}[4])
  y = Loop<body=(i: i64[], k: bool[], s: ${type}[N,4]) -> (j, t) {
    j = Identity(k)
    m = Mul(s, $h: ${type}[4])
    t = Add(m, v)
  }>($n: i64[] = {3}, $c: bool[] = {1}, x)
}`;

testRewrite(widenHalf, {
  rewrites: {
    "what a model computes throughout": `(x: f16[N,8]) -> (y, z = a) {
      a = MatMul(x, $w: f16[8,4])
      b = Add(a, $v: f16[4])
      y = Relu(b)
    }`,
    "what it computes between Casts of its own": `(x: f32[N,8]) -> (y) {
      h = Cast<to=10>(x)
      a = MatMul(h, $w: f16[8,4])
      y = Cast<to=1>(a)
    }`,
    "what is filled with it": `(x: f16[N,4], s: i64[1]) -> (y) {
      c = ConstantOfShape<value=f16[1] = {0.5}>(s)
      e = Reshape(c, $one: i64[1] = {-1})
      m = ReduceMean<keepdims=0>(e)
      y = Add(x, m)
    }`,
    "weights that are widened when the model is loaded": `(x: f32[N,8]) -> (y) {
      w = Cast<to=1>($v: f16[8,4])
      y = MatMul(x, w)
    }`,
    bodies: inBody("f16"),
  },
  leaves: {
    float32: [inBody("f32"), null],
    "Casts alone": ["(x: f16[N,4]) -> (y) { a = Cast<to=1>(x) b = Relu(a) y = Cast<to=10>(b) }", null],
    doubles: ["(x: f64[N,4]) -> (y) { y = Relu(x) }", null],
  },
});

/** Nobody runs these. */
async function reasons(text: string): Promise<readonly string[]> {
  const model = parseModel(text);
  const before = printGraph(model.graph);
  const [report] = await runPasses(model, [widenHalf]);
  expect(report!.applied).toBe(0);
  expect(printGraph(model.graph)).toBe(before);
  return report!.skipped.map(({ node, reason }) => `${node}: ${reason}`);
}

describe("widen-half on what it does not know", () => {
  it("leaves models with operators of others alone", async () => {
    const text = "(x: f16[4]) -> (y) { a = Relu(x) y = other::Gate(a) }";
    expect(await reasons(text)).toEqual(["Gate:y: the types that other::Gate takes are not known"]);
    expect(await reasons("(x: f16[4], z: f32[4]) -> (y, v) { y = Cast<to=1>(x) v = other::Gate(z) }")).toEqual([]);
  });

  it("leaves models that read bits alone", async () => {
    const text = "(x: f16[4]) -> (y) { a = Relu(x) y = BitCast<to=4>(a) }";
    expect(await reasons(text)).toEqual(["BitCast:y: it reads bits, which are others in another type"]);
  });
});
