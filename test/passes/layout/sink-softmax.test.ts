import { sinkSoftmax } from "../../../src/passes/layout/sink-softmax.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(sinkSoftmax, {
  rewrites: {
    "keys whose tokens go to the end": `(x: f32[N,2,5,3], v: f32[N,2,5,4]) -> (y) {
      s = Softmax<axis=2>(x)
      t = Transpose<perm=[0,1,3,2]>(s)
      y = MatMul(t, v)
    }`,
    "a LogSoftmax, its axis counted from the end": `(x: f32[N,5,3]) -> (y) {
      s = LogSoftmax<axis=-2>(x)
      y = Transpose<perm=[2,0,1]>(s)
    }`,
    "a Transpose that says nothing": `(x: f32[5,N]) -> (y) {
      s = Softmax<axis=0>(x)
      y = Transpose(s)
    }`,
  },
  leaves: {
    "a softmax of the last axis": ["(x: f32[N,5,3]) -> (y) { s = Softmax(x)\n y = Transpose<perm=[0,2,1]>(s) }", null],
    "an axis that goes elsewhere": [
      "(x: f32[N,5,3,2]) -> (y) { s = Softmax<axis=1>(x)\n y = Transpose<perm=[0,2,1,3]>(s) }",
      null,
    ],
    "a softmax that others read": [
      "(x: f32[N,5,3]) -> (y, z) { s = Softmax<axis=1>(x)\n y = Transpose<perm=[0,2,1]>(s)\n z = Neg(s) }",
      null,
    ],
    "a softmax of all axes behind": [
      "(x: f32[N,5,3]) -> (y) { s = Softmax<axis=1>(x)\n y = Transpose<perm=[0,2,1]>(s) }",
      null,
      { opset: 12 },
    ],
  },
});
