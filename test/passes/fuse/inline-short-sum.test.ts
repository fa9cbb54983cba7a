import { inlineShortSum } from "../../../src/passes/fuse/inline-short-sum.js";
import { testRewrite } from "../../support/test-rewrite.js";

const sum = (shape: string, attributes: string, axes: string): string =>
  `(x: f32[${shape}]) -> (y) { y = ReduceSum${attributes}(x, $axes: i64[1] = {${axes}}) }`;
const branches = (concat: string, axes: string, behind = "c"): string => `(a: f32[N,4,8,8], b: f32[N,4,8,8]) -> (y) {
  u = Unsqueeze(a, $new: i64[1] = {${axes}})
  v = Unsqueeze(b, $new)
  c = Concat<${concat}>(u, v)
  y = ReduceSum<keepdims=0>(${behind}, $axes: i64[1] = {1})
}`;

testRewrite(inlineShortSum, {
  rewrites: {
    "an axis of two": sum("N,2,4,8,8", "<keepdims=0>", "1"),
    "an axis of four, which stays": sum("1,4,8,8", "", "-3"),
    "magnitudes of two parts": [
      "(x: f32[N,2,40,30]) -> (y) { y = ReduceL2<keepdims=0>(x, $axes: i64[1] = {1}) }",
      { opset: 18 },
    ],
    "magnitudes of parts beside each other": "(x: f32[N,40,30,2]) -> (y) { y = ReduceL2<axes=[-1]>(x) }",
    "powers of three parts, which stay": "(x: f32[N,600,3,2]) -> (y) { y = ReduceSumSquare<axes=[2]>(x) }",
    "magnitudes of just as many elements": "(x: f32[N,2,32,32]) -> (y) { y = ReduceL2<axes=[1]>(x) }",
    "magnitudes of a length that is open": "(x: f32[1,2,20,N]) -> (y) { y = ReduceL2<axes=[1]>(x) }",
    "powers, by axes that are an input": [
      "(x: f32[N,2,40,30]) -> (y) { y = ReduceSumSquare<keepdims=0>(x, $axes: i64[1] = {1}) }",
      { opset: 18 },
    ],
    "branches that are put beside each other": branches("axis=1", "1"),
    "those, counted from the end": branches("axis=-4", "-4"),
    "halves of channels": `(x: f32[N,8,8,8]) -> (y) {
      a = Reshape(x, $shape: i64[5] = {0,2,4,8,8})
      y = ReduceSum<keepdims=0>(a, $axes: i64[1] = {1})
    }`,
    "halves of channels, each by its factor": `(x: f32[N,12,8,8], s: f32[N,3,4,1,1]) -> (y, z) {
      a = Reshape(x, $shape: i64[5] = {0,3,4,8,8})
      m = Mul(a, s)
      y = ReduceSum<keepdims=0>(m, $axes: i64[1] = {1})
      z = ReduceSum<keepdims=0>(a, $axes)
    }`,
    "branches, all by one factor": `(a: f32[N,4,8,8], b: f32[N,4,8,8], s: f32[N,1,4,1,1]) -> (y) {
      u = Unsqueeze(a, $new: i64[1] = {1})
      v = Unsqueeze(b, $new)
      c = Concat<axis=1>(u, v)
      m = Mul(s, c)
      y = ReduceSum(m, $new)
    }`,
    "a product that others read, too": `(x: f32[N,2,4,8,8], s: f32[N,2,4,1,1]) -> (y, z) {
      m = Mul(x, s)
      y = ReduceSum<keepdims=0>(m, $axes: i64[1] = {1})
      z = Neg(m)
    }`,
    "a view that takes another axis apart": `(x: f32[N,2,32,8]) -> (y) {
      a = Reshape(x, $shape: i64[5] = {0,2,4,8,8})
      y = ReduceSum<keepdims=0>(a, $axes: i64[1] = {1})
    }`,
    "a Concat of other parts": `(a: f32[1,1,4,8,8], b: f32[1,1,4,8,8]) -> (y) {
      c = Concat<axis=1>(a, b)
      y = ReduceSum<keepdims=0>(c, $axes: i64[1] = {1})
    }`,
    "branches along another axis": branches("axis=1", "2").replace(
      "f32[N,4,8,8], b: f32[N,4,8,8]",
      "f32[N,1,8,8], b: f32[N,1,8,8]",
    ),
  },
  leaves: {
    "magnitudes of many parts": ["(x: f32[N,5,40,30]) -> (y) { y = ReduceL2<axes=[1]>(x) }", null],
    "magnitudes of few elements of each of a batch": [
      "(x: f32[N,2,40,20]) -> (y) { y = ReduceSumSquare<axes=[1]>(x) }",
      null,
    ],
    "magnitudes of not quite as many elements": ["(x: f32[N,2,33,31]) -> (y) { y = ReduceL2<axes=[1]>(x) }", null],
    "magnitudes of few elements": ["(x: f32[N,2,40,20]) -> (y) { y = ReduceL2<axes=[1]>(x) }", null],
    "magnitudes in double precision": ["(x: f64[N,2,40,30]) -> (y) { y = ReduceL2<axes=[1]>(x) }", null],
    "many parts": [sum("N,5,4,8,8", "<keepdims=0>", "1"), null],
    "one part": [sum("N,1,4,8,8", "<keepdims=0>", "1"), null],
    "parts of each of a batch": [sum("8,2,4,8,8", "<keepdims=0>", "1"), null],
    "the last axis": [sum("64,64,2", "<keepdims=0>", "2"), null],
    "parts of few elements": [sum("N,2,7,9", "<keepdims=0>", "1"), null],
    "an axis of unknown size": [sum("N,C,4,8,8", "<keepdims=0>", "1"), null],
    "two axes": ["(x: f32[N,2,2,8,8]) -> (y) { y = ReduceSum(x, $axes: i64[2] = {1,2}) }", null],
    "axes that are computed": ["(x: f32[N,2,4,8,8], a: i64[1]) -> (y) { y = ReduceSum(x, a) }", null],
    "what nothing is known of": ["(x: f32) -> (y) { y = ReduceSum(x, $axes: i64[1] = {1}) }", null],
    "what runs elsewhere": [
      sum("N,2,4,8,8", "<keepdims=0>", "1"),
      "NVIDIA TensorRT 11: its kernels for ReduceL2, ReduceSum and ReduceSumSquare add few numbers one by one",
      { target: "tensorrt" },
    ],
  },
});
