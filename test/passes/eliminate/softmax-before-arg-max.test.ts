import { eliminateSoftmaxBeforeArgMax } from "../../../src/passes/eliminate/softmax-before-arg-max.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateSoftmaxBeforeArgMax, {
  rewrites: {
    "both go along the last axis": `(x: f32[2,3,5]) -> (y) {
      s = Softmax(x)
      y = ArgMax<axis=2, keepdims=0>(s)
    }`,
    "an axis is counted from the end": `(x: f32[2,3,5]) -> (y) {
      s = LogSoftmax<axis=1>(x)
      y = ArgMax<axis=-2>(s)
    }`,
  },
  leaves: {
    "they go along different axes": [
      `(x: f32[2,3,5]) -> (y) {
        s = Softmax(x)
        y = ArgMax<axis=1>(s)
      }`,
      "Softmax goes along another axis",
    ],
    "somebody reads the probabilities": [
      `(x: f32[2,5]) -> (y, s) {
        s = Softmax(x)
        y = ArgMax<axis=1>(s)
      }`,
      null,
    ],
    "the smallest is looked for": [
      `(x: f32[2,5]) -> (y) {
        s = Softmax(x)
        y = ArgMin<axis=1>(s)
      }`,
      null,
    ],
  },
});
