import { sinkReducedTranspose } from "../../../src/passes/layout/reduce-axes.js";
import { testRewrite } from "../../support/test-rewrite.js";

const reduced = (op: string, attributes: string, perm = "0,2,3,1", shape = "N,3,4,5"): string =>
  `(x: f32[${shape}]) -> (y) {
    t = Transpose<perm=[${perm}]>(x)
    y = ${op}<${attributes}>(t)
  }`;

testRewrite(sinkReducedTranspose, {
  rewrites: {
    "an axis that goes, after which the others are in their order": reduced("ReduceMax", "axes=[3], keepdims=0"),
    "an axis that stays": reduced("ReduceL2", "axes=[-1]"),
    "an axis that goes, after which the others are not": reduced("ReduceMean", "axes=[1], keepdims=0", "0,3,2,1"),
    "two axes": reduced("ReduceMin", "axes=[1,2], keepdims=0", "2,0,3,1"),
    "all axes": reduced("ReduceMax", "keepdims=0"),
    "axes that are an input": [
      `(x: f32[N,3,4,5]) -> (y) {
        t = Transpose<perm=[3,2,0,1]>(x)
        y = ReduceSum<keepdims=0>(t, $axes: i64[1] = {1})
      }`,
      { opset: 18 },
    ],
    "an order that is not told": [
      "(x: f32[3,4,5]) -> (y) { t = Transpose(x) y = ReduceMax<axes=[0], keepdims=0>(t) }",
      { opset: 17 },
    ],
  },
  leaves: {
    "what others read, too": [
      "(x: f32[N,3,4,5]) -> (y, z) { t = Transpose<perm=[0,2,3,1]>(x) y = ReduceMax<axes=[1]>(t) z = Relu(t) }",
      null,
    ],
    "an axis of one element, which leaves as many": [reduced("ReduceMax", "axes=[3]", "0,2,3,1", "N,1,4,5"), null],
    "an axis of unknown size": [reduced("ReduceMax", "axes=[0]"), null],
    "axes that are computed": [
      "(x: f32[N,3,4,5], a: i64[1]) -> (y) { t = Transpose<perm=[0,2,3,1]>(x) y = ReduceSum(t, a) }",
      null,
    ],
    "no axes at all": [
      "(x: f32[N,3,4]) -> (y) { t = Transpose<perm=[0,2,1]>(x) y = ReduceSum<noop_with_empty_axes=1>(t, $none: i64[0]) }",
      null,
    ],
  },
});
