import { eliminateSquaredRoot } from "../../../src/passes/eliminate/squared-root.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateSquaredRoot, {
  rewrites: {
    "the square of a root of a sum of squares": `(x: f32[N,4]) -> (y) {
      a = Mul(x, x)
      b = Sqrt(a)
      y = Pow(b, $two: f32 = {2})
    }`,
    "a root times itself, which others read": `(x: f32[N,4]) -> (y, z) {
      a = Abs(x)
      b = Sqrt(a)
      y = Mul(b, b)
      z = Neg(b)
    }`,
    "the square of a magnitude": `(x: f32[N,4,5]) -> (y) {
      a = ReduceL2<axes=[1], keepdims=0>(x)
      y = Pow(a, $two: f32 = {2})
    }`,
    "a magnitude times itself": `(x: f32[N,4,5]) -> (y) {
      a = ReduceL2<axes=[2]>(x)
      y = Mul(a, a)
    }`,
  },
  leaves: {
    "sums of magnitudes": ["(x: f32[N,4,5]) -> (y) { a = ReduceL1<axes=[1]>(x) y = Mul(a, a) }", null],
    "magnitudes of integers, whose root is cut": [
      `(x: i32[N,4,5]) -> (y) {
        a = ReduceL2<axes=[2]>(x)
        y = Mul(a, a)
      }`,
      null,
    ],
    "a root of what may be negative": [
      `(x: f32[N,4]) -> (y) { b = Sqrt(x)
y = Mul(b, b) }`,
      null,
    ],
    "another power": [
      `(x: f32[N,4]) -> (y) { a = Abs(x)
b = Sqrt(a)
y = Pow(b, $three: f32 = {3}) }`,
      null,
    ],
    "a product of two roots": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { a = Abs(x)
b = Sqrt(a)
c = Abs(z)
d = Sqrt(c)
y = Mul(b, d) }`,
      null,
    ],
    "powers that make more elements": [
      `(x: f32[N,4]) -> (y) { a = Abs(x)
b = Sqrt(a)
y = Pow(b, $two: f32[1,1,1] = {2}) }`,
      null,
    ],
    "a magnitude that others read, too": [
      `(x: f32[N,4,5]) -> (y, z) { a = ReduceL2<axes=[1]>(x)
y = Mul(a, a)
z = Neg(a) }`,
      null,
    ],
    "a magnitude that is an output": [
      `(x: f32[N,4,5]) -> (y, a) { a = ReduceL2<axes=[1]>(x)
y = Mul(a, a) }`,
      null,
    ],
  },
});
