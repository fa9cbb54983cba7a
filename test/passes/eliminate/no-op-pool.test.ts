import { eliminateNoOpAverage, eliminateNoOpPool } from "../../../src/passes/eliminate/no-op-pool.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (line: string, input = "x: f32[N,3,4,5]"): string =>
  `(${input}) -> (y) { a = Neg(x) b = ${line} y = Abs(b) }`;

testRewrite(eliminateNoOpPool, {
  rewrites: {
    "the maximum of one": graph("MaxPool<kernel_shape=[1,1], strides=[1,1], pads=[0,0,0,0]>(a)"),
    "the maximum of a plane of one": graph("GlobalMaxPool(a)", "x: f32[N,3,1,1]"),
  },
  leaves: {
    "every second element": [graph("MaxPool<kernel_shape=[1,1], strides=[1,2]>(a)"), null],
    "a plane of any size": [graph("GlobalMaxPool(a)", "x: f32[2,3,1,N]"), null],
    "places that somebody reads": ["(x: f32[2,3,4,5]) -> (y, i) { y, i = MaxPool<kernel_shape=[1,1]>(x) }", null],
    "averages, which lose the sign of a zero": [graph("AveragePool<kernel_shape=[1,1]>(a)"), null],
  },
});

testRewrite(eliminateNoOpAverage, {
  rewrites: {
    "the mean of one": graph("AveragePool<kernel_shape=[1,1], count_include_pad=1>(a)"),
    "the mean of a plane of one": graph("GlobalAveragePool(a)", "x: f32[N,3,1,1]"),
  },
  leaves: {
    "a window of two": [graph("AveragePool<kernel_shape=[1,2]>(a)"), null],
    "elements between padding": [graph("AveragePool<kernel_shape=[1,1], pads=[0,0,0,1]>(a)"), null],
  },
});
