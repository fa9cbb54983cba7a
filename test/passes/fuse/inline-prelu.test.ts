import { inlinePRelu } from "../../../src/passes/fuse/inline-prelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(inlinePRelu, {
  rewrites: {
    "slopes of channels": "(x: f32[N,3,4,5]) -> (y) { y = PRelu(x, $a: f32[3,1,1] = {0.25, 1.0, -0.5}) }",
    "one slope": "(x: f32[N,3]) -> (y) { y = PRelu(x, $a: f32[1] = {0.25}) }",
    "a slope of zero": "(x: f32[N,3]) -> (y) { y = PRelu(x, $a: f32[3] = {0.25, 0.0, 0.5}) }",
    "a steeper slope": "(x: f32[N,3]) -> (y) { y = PRelu(x, $a: f32[3] = {0.25, 1.5, 0.5}) }",
  },
  leaves: {
    "slopes that are computed": ["(x: f32[N,3], a: f32[3]) -> (y) { y = PRelu(x, a) }", null],
    "half precision": ["(x: f16[N,3]) -> (y) { y = PRelu(x, $a: f16[3]) }", null],
    "what runs elsewhere": [
      "(x: f32[N,3]) -> (y) { y = PRelu(x, $a: f32[3] = {0.25, 0.1, 0.5}) }",
      "NVIDIA TensorRT 11: its kernel for PRelu takes one element after the other",
      { target: "tensorrt" },
    ],
  },
});
