import { eliminateAddedZero } from "../../../src/passes/eliminate/added-zero.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateAddedZero, {
  rewrites: {
    "a scalar on the left": `(x: f32[N,3]) -> (y) {
      a = Relu(x)
      b = Add($z: f32[] = {0}, a)
      y = Neg(b)
    }`,
    "one zero for each channel": `(x: f32[N,3,4]) -> (y) {
      b = Add(x, $z: f32[3,1] = {0, 0, 0})
      y = Neg(b)
    }`,
  },
  leaves: {
    "what is not zero everywhere": ["(x: f32[N,3]) -> (y) { y = Add(x, $z: f32[3] = {0, 0, 1}) }", null],
    "a zero that widens the result": ["(x: f32[1,3]) -> (y) { y = Add(x, $z: f32[2,3] = {0, 0, 0, 0, 0, 0}) }", null],
    "a zero of unknown width": ["(x: f32[N,3]) -> (y) { y = Add(x, $z: f32[2,3] = {0, 0, 0, 0, 0, 0}) }", null],
    "integers, which are another pass's": ["(x: i64[3]) -> (y) { y = Add(x, $z: i64[] = {0}) }", null],
    "what something is divided by": [
      "(x: f32[3]) -> (y) { a = Add(x, $z: f32[] = {0}) y = Div($one: f32[] = {1}, a) }",
      "something is divided by the sum, and the sign of a zero shows",
    ],
    "what is inverted": [
      "(x: f32[3]) -> (y) { a = Add(x, $z: f32[] = {0}) y = Reciprocal(a) }",
      "something is divided by the sum, and the sign of a zero shows",
    ],
  },
});
