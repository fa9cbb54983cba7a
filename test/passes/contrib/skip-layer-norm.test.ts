import { fuseSkipLayerNorm } from "../../../src/passes/contrib/skip-layer-norm.js";
import { testRewrite } from "../../support/test-rewrite.js";

const opset23 = { opset: 23 };
const ADDENDS = "the two addends may differ in shape";
const AFFINE = "$g: f32[4], $b: f32[4]";

testRewrite(fuseSkipLayerNorm, {
  rewrites: {
    "a residual": `(x: f32[N,S,4], r: f32[N,S,4]) -> (y) {
      a = Add(x, r)
      y = LayerNormalization<axis=-1, epsilon=1e-6>(a, ${AFFINE})
    }`,
    "a residual of rows, without beta": `(x: f32[N,4], r: f32[N,4]) -> (y) {
      a = Add(x, r)
      y = LayerNormalization<axis=1>(a, $g: f32[4])
    }`,
    "a residual and a bias": `(x: f32[N,S,4], r: f32[N,S,4]) -> (y) {
      h = Add($c: f32[4], x)
      a = Add(r, h)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "a residual and a bias, without beta": `(x: f32[N,S,4], r: f32[N,S,4]) -> (y) {
      h = Add(x, $c: f32[4])
      a = Add(h, r)
      y = LayerNormalization(a, $g: f32[4])
    }`,
    "a sum that the next residual reads, earlier and later than the normalization": `(x: f32[N,S,4], r: f32[N,S,4]) -> (y, z, a) {
      h = Add(x, $c: f32[4])
      a = Add(h, r)
      t = Tanh(a)
      n = LayerNormalization(a, ${AFFINE})
      y = Mul(n, t)
      z = Relu(a)
    }`,
    "positions, the same in each sample": `(x: f32[N,3,4]) -> (y) {
      a = Add($p: f32[1,3,4], x)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "positions without the axis of the batch": `(x: f32[N,3,4]) -> (y) {
      a = Add(x, $p: f32[3,4])
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "a bias on a tensor that another reads": `(x: f32[N,4], r: f32[N,4]) -> (y, h) {
      h = Add(x, $c: f32[4])
      a = Add(h, r)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "the residual of RMSNormalization": [
      `(x: f32[N,S,4], r: f32[N,S,4]) -> (y, a) {
        a = Add(x, r)
        y = RMSNormalization<epsilon=1e-6>(a, $g: f32[4])
      }`,
      opset23,
    ],
    "the residual and bias of RMSNormalization": [
      `(x: f32[N,S,4], r: f32[N,S,4]) -> (y) {
        h = Add(x, $c: f32[4])
        a = Add(h, r)
        y = RMSNormalization(a, $g: f32[4])
      }`,
      opset23,
    ],
  },
  leaves: {
    "a normalization of something else": ["(x: f32[2,4]) -> (y) { y = LayerNormalization(x, $g: f32[4]) }", null],
    "four axes": [
      `(x: f32[N,2,3,4], r: f32[N,2,3,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`,
      "SkipLayerNormalization takes tensors of two or three axes",
    ],
    "more than the last axis": [
      "(x: f32[N,3,4], r: f32[N,3,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization<axis=1>(a, $g: f32[3,4]) }",
      "it normalizes over more than the last axis",
    ],
    "one gamma for all elements": [
      "(x: f32[N,3,4], r: f32[N,3,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, $g: f32[1]) }",
      "gamma or beta is not one number per element of the last axis",
    ],
    "a gamma that is computed": [
      "(x: f32[N,3,4], r: f32[N,3,4], g: f32[4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, g) }",
      "gamma or beta is computed",
    ],
    "addends of different shapes": [
      `(x: f32[N,3,4], r: f32[N,1,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`,
      ADDENDS,
    ],
    "a sum that is wider than both addends": [
      `(x: f32[N,1,4], r: f32[1,3,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`,
      ADDENDS,
    ],
    "a number": [`(x: f32[N,3,4]) -> (y) { a = Add(x, $c: f32[])\n y = LayerNormalization(a, ${AFFINE}) }`, ADDENDS],
    "a normalization whose mean is read": [
      `(x: f32[N,4], r: f32[N,4]) -> (y, m) { a = Add(x, r)\n y, m = LayerNormalization(a, ${AFFINE}) }`,
      null,
    ],
    float64: [
      "(x: f64[N,4], r: f64[N,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, $g: f64[4]) }",
      "SkipLayerNormalization computes in f32 only",
    ],
  },
});
