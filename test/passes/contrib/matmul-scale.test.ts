import { fuseMatMulScale } from "../../../src/passes/contrib/matmul-scale.js";
import { testRewrite } from "../../support/test-rewrite.js";

const IO = "(a: f32[N,3,4], b: f32[N,4,5]) -> (y)";
const UNSAFE = "scaling at another place might overflow, or is not in f32";

testRewrite(fuseMatMulScale, {
  rewrites: {
    "a scaled result": `${IO} { m = MatMul(a, b)\n y = Mul(m, $c: f32[] = {0.125}) }`,
    "the number first": `${IO} { m = MatMul(a, b)\n y = Mul($c: f32[1] = {0.125}, m) }`,
    "a divided result": `${IO} { m = MatMul(a, b)\n y = Div(m, $c: f32[] = {8.0}) }`,
    "a scaled first operand": `${IO} { s = Mul(a, $c: f32[] = {-0.5})\n y = MatMul(s, b) }`,
    "both operands scaled, and the result": `${IO} {
      s = Mul(a, $c: f32[] = {0.5})
      t = Div(b, $d: f32[] = {3.0})
      m = MatMul(s, t)
      y = Mul(m, $e: f32[] = {7.0})
    }`,
    "a FusedMatMul": `(a: f32[N,4,3], b: f32[N,4,5]) -> (y) {
      m = com.microsoft::FusedMatMul<transA=1, alpha=0.5>(a, b)
      y = Div(m, $c: f32[] = {3.0})
    }`,
    vectors: "(a: f32[4], b: f32[4]) -> (y) { m = MatMul(a, b)\n y = Mul(m, $c: f32[] = {0.125}) }",
  },
  leaves: {
    "a vector of factors": [`${IO} { m = MatMul(a, b)\n y = Mul(m, $c: f32[5]) }`, null],
    "a number that is divided": [`${IO} { m = MatMul(a, b)\n y = Div($c: f32[] = {1.0}, m) }`, null],
    "a number that widens": [
      "(a: f32[3,4], b: f32[4,5]) -> (y) { m = MatMul(a, b)\n y = Mul(m, $c: f32[1,1,1] = {0.5}) }",
      null,
    ],
    "a product that others read": [
      `${IO.replace("(y)", "(y, m)")} { m = MatMul(a, b)\n y = Mul(m, $c: f32[] = {0.125}) }`,
      null,
    ],
    "a scaled operand that others read": [
      `${IO.replace("(y)", "(y, s)")} { s = Mul(a, $c: f32[] = {0.125})\n y = MatMul(s, b) }`,
      null,
    ],
    "a product of two tensors": [`(a: f32[3,3], b: f32[3,3]) -> (y) { m = MatMul(a, b)\n y = Mul(m, a) }`, null],
    "an operand that is multiplied with itself": [
      "(a: f32[N,3,3]) -> (y) { s = Mul(a, $c: f32[] = {0.5})\n y = MatMul(s, s) }",
      null,
    ],
    "division by zero": [`${IO} { m = MatMul(a, b)\n y = Div(m, $c: f32[] = {0.0}) }`, UNSAFE],
    "a huge factor": [`${IO} { s = Mul(a, $c: f32[] = {1e20})\n y = MatMul(s, b) }`, UNSAFE],
    float16: ["(a: f16[3,4], b: f16[4,5]) -> (y) { m = MatMul(a, b)\n y = Mul(m, $c: f16[] = {0.125}) }", UNSAFE],
  },
});
