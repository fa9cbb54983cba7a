import { eliminateLeadingAxes } from "../../../src/passes/eliminate/leading-axes.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateLeadingAxes, {
  rewrites: {
    "axes in front of one operand": `(x: f32[N,2,T,4], v: f32[T,4]) -> (y) {
      a = Unsqueeze(v, $i: i64[2] = {0, 1})
      y = Mul(a, x)
    }`,
    "for each of several readers": `(x: f32[N,2,T,4], v: f32[T,4]) -> (y, z) {
      a = Unsqueeze(v, $i: i64[2] = {0, 1})
      y = Mul(a, x)
      z = Sub(x, a)
    }`,
    "a Reshape, and steps in between": `(x: f32[N,3,H,W,2], v: i64[H,W,2]) -> (y) {
      s = Shape(v)
      t = Concat<axis=0>($one: i64[2] = {1, 1}, s)
      a = Reshape(v, t)
      b = Cast<to=1>(a)
      c = Neg(b)
      y = Add(x, c)
    }`,
    "one of two views of the same rank": `(x: f32[T,4], v: f32[T,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[1] = {0})
      b = Unsqueeze(v, $i)
      y = Mul(a, b)
    }`,
    "a condition": `(c: bool[T], x: f32[N,T], z: f32[N,T]) -> (y) {
      a = Unsqueeze(c, $i: i64[1] = {0})
      y = Where(a, x, z)
    }`,
  },
  leaves: {
    "axes that the result gets from here": [
      `(x: f32[T,4], v: f32[T,4]) -> (y) {
        a = Unsqueeze(v, $i: i64[1] = {0})
        y = Mul(a, x)
      }`,
      null,
    ],
    "a tensor beside itself": [
      `(v: f32[T,4]) -> (y) {
        a = Unsqueeze(v, $i: i64[1] = {0})
        y = Mul(a, a)
      }`,
      null,
    ],
    "an axis behind": [
      `(x: f32[N,T,4], v: f32[T]) -> (y) {
        a = Unsqueeze(v, $i: i64[2] = {0, 2})
        y = Mul(a, x)
      }`,
      null,
    ],
    "a Reshape of the elements": [
      `(x: f32[N,2,4], v: f32[8]) -> (y) {
        a = Reshape(v, $s: i64[3] = {1, 2, 4})
        y = Mul(a, x)
      }`,
      null,
    ],
    "steps that others read": [
      `(x: f32[N,T,4], v: f32[T,4]) -> (y, b) {
        a = Unsqueeze(v, $i: i64[1] = {0})
        b = Neg(a)
        y = Mul(b, x)
      }`,
      null,
    ],
    "an exponent": [
      `(x: f32[N,4], v: f32[4]) -> (y) {
        p = Abs(x)
        a = Unsqueeze(v, $i: i64[1] = {0})
        y = Pow(p, a)
      }`,
      null,
    ],
  },
});
