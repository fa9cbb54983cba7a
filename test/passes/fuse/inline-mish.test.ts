import { inlineMish } from "../../../src/passes/fuse/inline-mish.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(inlineMish, {
  rewrites: {
    "a Mish": ["(x: f32[N,3]) -> (y) { y = Mish(x) }", { opset: 18 }],
    "one of elements from far below to far above": [
      "(x: f32[N,8]) -> (y) { a = Mul(x, $s: f32[8] = {-300, -30, -3, -0.001, 0, 3, 30, 3e38}) y = Mish(a) }",
      { opset: 18 },
    ],
    "one that is written out, of an older opset": [
      "(x: f32[N,3]) -> (y) { a = Softplus(x) b = Tanh(a) y = Mul(b, x) }",
      { opset: 13 },
    ],
  },
  leaves: {
    "half precision, in which e * e does not fit": ["(x: f16[N,3]) -> (y) { y = Mish(x) }", null, { opset: 18 }],
    "what runs elsewhere": [
      "(x: f32[N,3]) -> (y) { y = Mish(x) }",
      "NVIDIA TensorRT 11: its Softplus, of which Mish is made, is many times as slow as Exp",
      { opset: 18, target: "tensorrt" },
    ],
  },
});
