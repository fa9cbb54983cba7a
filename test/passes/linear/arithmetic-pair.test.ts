import { fuseArithmeticPair } from "../../../src/passes/linear/arithmetic-pair.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,3], z: f32[N,3]"): string => `(${input}) -> (y) {
  ${lines}
}`;
/** Above zero whatever x is. */
const ABOVE = "e = Exp(x)";

testRewrite(fuseArithmeticPair, {
  rewrites: {
    "a sum with Neg": graph("a = Neg(z)\n  y = Add(x, a)"),
    "a sum that begins with Neg": graph("a = Neg(z)\n  y = Add(a, x)"),
    "a difference of Neg": graph("a = Neg(z)\n  y = Sub(x, a)"),
    "the sign of a difference": graph("a = Sub(x, z)\n  y = Neg(a)"),
    "Abs of Neg": graph("a = Neg(x)\n  y = Abs(a)", "x: f32[N,3]"),
    "a product with a reciprocal": graph(`${ABOVE}\n  a = Reciprocal(e)\n  y = Mul(a, z)`),
    "a product with one over": graph(`${ABOVE}\n  a = Div($one: f32[] = {1.0}, e)\n  y = Mul(z, a)`),
    "a quotient by a reciprocal": graph(`${ABOVE}\n  a = Reciprocal(e)\n  y = Div(z, a)`),
    "the first power": graph("y = Pow(x, $p: f32[] = {1.0})", "x: f32[N,3]"),
    "a root": graph(`${ABOVE}\n  y = Pow(e, $p: f32[1] = {0.5})`, "x: f32[N,3]"),
    "a root told by a number of another type": graph(`${ABOVE}\n  y = Pow(e, $p: i64[] = {-1})`, "x: f32[N,3]"),
  },
  leaves: {
    "a Neg that another node reads": ["(x: f32[N,3], z: f32[N,3]) -> (y, a) { a = Neg(z) y = Add(x, a) }", null],
    "two over": [graph(`${ABOVE}\n  a = Div($two: f32[] = {2.0}, e)\n  y = Mul(z, a)`), null],
    "one over that is widened": [graph(`${ABOVE}\n  a = Div($one: f32[2,1,1] = {1.0}, e)\n  y = Mul(z, a)`), null],
    "whole numbers, which are cut off": [
      graph("a = Div($one: i64[] = {1}, x)\n  y = Mul(z, a)", "x: i64[N,3], z: i64[N,3]"),
      null,
    ],
    squares: [graph("y = Pow(x, $p: f32[] = {2.0})", "x: f32[N,3]"), null],
    "a power that widens": [graph("y = Pow(x, $p: f32[1,1,1] = {1.0})", "x: f32[N,3]"), null],
    "whole numbers": [graph("y = Pow(x, $p: f32[] = {1.0})", "x: i64[N,3]"), null],
  },
});
