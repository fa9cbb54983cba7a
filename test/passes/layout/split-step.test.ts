import { hoistSplitStep } from "../../../src/passes/layout/split-step.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(hoistSplitStep, {
  rewrites: {
    "one activation of all parts": `(x: f32[N,9]) -> (y) {
      a, b, c = Split<axis=-1>(x, $s: i64[3] = {2, 2, 5})
      d = Sigmoid(a)
      e = Sigmoid(b)
      f = Sigmoid(c)
      y = Concat<axis=1>(f, d, e)
    }`,
    "an activation with parameters, into outputs": `(x: f32[N,4]) -> (y, z) {
      a, b = Split<axis=1>(x)
      y = LeakyRelu<alpha=0.2>(a)
      z = LeakyRelu<alpha=0.2>(b)
    }`,
    "a Transpose": `(x: f32[N,T,6,2]) -> (y, z) {
      a, b = Split<axis=2>(x, $s: i64[2] = {2, 4})
      y = Transpose<perm=[0,2,1,3]>(a)
      z = Transpose<perm=[0,2,1,3]>(b)
    }`,
    "heads taken apart": `(x: f32[N,T,24]) -> (y, z, w) {
      a, b, c = Split<axis=-1>(x, $s: i64[3] = {8, 8, 8})
      y = Reshape(a, $t: i64[4] = {0, 0, 4, 2})
      z = Reshape(b, $t)
      w = Reshape(c, $t)
    }`,
    "heads of parts that are counted": [
      `(x: f32[N,T,8]) -> (y, z) {
        a, b = Split<axis=2, num_outputs=2>(x)
        y = Reshape<allowzero=1>(a, $t: i64[4] = {-1, 3, 2, 2})
        z = Reshape<allowzero=1>(b, $t)
      }`.replace("N,T", "N,3"),
      { opset: 18 },
    ],
  },
  leaves: {
    "different steps": [
      `(x: f32[N,4]) -> (y, z) {
        a, b = Split<axis=1>(x)
        y = Sigmoid(a)
        z = Tanh(b)
      }`,
      null,
    ],
    "different parameters": [
      `(x: f32[N,4]) -> (y, z) {
        a, b = Split<axis=1>(x)
        y = LeakyRelu<alpha=0.1>(a)
        z = LeakyRelu<alpha=0.2>(b)
      }`,
      null,
    ],
    "a part that others read": [
      `(x: f32[N,4]) -> (y, z, a) {
        a, b = Split<axis=1>(x)
        y = Sigmoid(a)
        z = Sigmoid(b)
      }`,
      null,
    ],
    "a part without the step": [
      `(x: f32[N,6]) -> (y, z, c) {
        a, b, c = Split<axis=1>(x)
        y = Sigmoid(a)
        z = Sigmoid(b)
      }`,
      null,
    ],
    "a Reshape that mixes the axes in front": [
      `(x: f32[2,6,8]) -> (y, z) {
        a, b = Split<axis=2>(x)
        y = Reshape(a, $t: i64[4] = {6, 2, 2, 2})
        z = Reshape(b, $t)
      }`,
      null,
    ],
    "a Reshape after a Split of another axis": [
      `(x: f32[N,4,8]) -> (y, z) {
        a, b = Split<axis=1>(x)
        y = Reshape(a, $t: i64[4] = {0, 0, 4, 2})
        z = Reshape(b, $t)
      }`,
      null,
    ],
    "parts of different sizes": [
      `(x: f32[2,3,12]) -> (y, z) {
        a, b = Split<axis=2>(x, $s: i64[2] = {4, 8})
        y = Reshape(a, $t: i64[4] = {0, 0, 2, -1})
        z = Reshape(b, $t)
      }`,
      null,
    ],
    "a step on the other side of a product": [
      `(x: f32[N,4]) -> (y, z) {
        a, b = Split<axis=1>(x)
        y = Mul(a, b)
        z = Sigmoid(y)
      }`,
      null,
    ],
  },
});
