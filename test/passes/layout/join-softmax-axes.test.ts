import { joinSoftmaxAxes } from "../../../src/passes/layout/join-softmax-axes.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(joinSoftmaxAxes, {
  rewrites: {
    "a softmax over channels": "(x: f32[N,3,4,5]) -> (y) { y = Softmax<axis=1>(x) }",
    "a LogSoftmax, its axis counted from the end": "(x: f32[2,C,2,3,2]) -> (y) { y = LogSoftmax<axis=-4>(x) }",
    "axes of any size": ["(x: f32[N,3,H,W]) -> (y) { y = Softmax<axis=1>(x) }", { opset: 15 }],
    "some of which are known": ["(x: f32[2,3,4,W]) -> (y) { y = LogSoftmax<axis=1>(x) }", { opset: 18 }],
    "the first axis": "(x: f32[N,3,4]) -> (y) { a = Softmax<axis=0>(x) y = Neg(a) }",
  },
  leaves: {
    "one axis behind": ["(x: f32[N,3,4]) -> (y) { y = Softmax<axis=1>(x) }", null],
    "the last axis": ["(x: f32[N,3,4,5]) -> (y) { y = Softmax(x) }", null],
    "axes of any size, where their sizes cost more nodes": [
      "(x: f32[N,3,H,W]) -> (y) { y = Softmax<axis=1>(x) }",
      null,
      { opset: 14 },
    ],
    "what may be found or not, behind which sizes are open": [
      "(x: f32[N,3,H,W], c: bool[N]) -> (y) { a = Compress<axis=0>(x, c) y = Softmax<axis=1>(a) }",
      null,
      { opset: 15 },
    ],
    "as many classes as there are": ["(x: f32[N,C,H,W]) -> (y) { y = Softmax<axis=1>(x) }", null, { opset: 15 }],
    "what nothing is known of": ["(x: f32) -> (y) { y = Softmax<axis=1>(x) }", null],
    "one place alone": ["(x: f32[N,3,1,1]) -> (y) { y = Softmax<axis=1>(x) }", null],
    "an old softmax, over several axes": ["(x: f32[N,3,4,5]) -> (y) { y = Softmax<axis=1>(x) }", null, { opset: 11 }],
    "what runs elsewhere": [
      "(x: f32[N,3,4,5]) -> (y) { y = Softmax<axis=1>(x) }",
      "NVIDIA TensorRT 11: it moves an axis to the end, which takes long with several behind it",
      { target: "tensorrt" },
    ],
  },
});
