import { fuseQuickGelu } from "../../../src/passes/contrib/quick-gelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (body: string, type = "f32[N,4]"): string => `(x: ${type}) -> (y) { ${body} }`;

testRewrite(fuseQuickGelu, {
  rewrites: {
    SiLU: graph("s = Sigmoid(x)\n y = Mul(x, s)"),
    "SiLU the other way round": graph("s = Sigmoid(x)\n y = Mul(s, x)"),
    "a number inside": graph("a = Mul(x, $c: f32[] = {1.702})\n s = Sigmoid(a)\n y = Mul(x, s)"),
    "a number inside, the other way round": graph("a = Mul($c: f32[1] = {-0.5}, x)\n s = Sigmoid(a)\n y = Mul(s, x)"),
    "a product that others read": `(x: f32[N,4]) -> (y, z) {
      t = Tanh(x)
      s = Sigmoid(t)
      y = Mul(t, s)
      z = Relu(t)
    }`,
  },
  leaves: {
    "the gate of another tensor": ["(x: f32[4], z: f32[4]) -> (y) { s = Sigmoid(z)\n y = Mul(x, s) }", null],
    "a gate that others read": ["(x: f32[4]) -> (y, s) { s = Sigmoid(x)\n y = Mul(x, s) }", null],
    "a vector inside": [graph("a = Mul(x, $c: f32[4])\n s = Sigmoid(a)\n y = Mul(x, s)"), null],
    "a number of higher rank, which widens": [
      "(x: f32[4]) -> (y) { a = Mul(x, $c: f32[1,1] = {2.0})\n s = Sigmoid(a)\n y = Mul(x, s) }",
      null,
    ],
    "a number that is computed": [
      "(x: f32[4], c: f32[]) -> (y) { a = Mul(x, c)\n s = Sigmoid(a)\n y = Mul(x, s) }",
      null,
    ],
    float64: [graph("s = Sigmoid(x)\n y = Mul(x, s)", "f64[4]"), "QuickGelu computes in f32 only"],
  },
});
