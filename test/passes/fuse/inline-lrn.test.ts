import { inlineLrn } from "../../../src/passes/fuse/inline-lrn.js";
import { testRewrite } from "../../support/test-rewrite.js";

const lrn = (attributes: string): string => `(x: f32[N,6,4,5]) -> (y) { y = LRN<${attributes}>(x) }`;

testRewrite(inlineLrn, {
  rewrites: {
    "one of three quarters": lrn("size=5, alpha=0.5, beta=0.75, bias=2.0"),
    "a window of one channel": lrn("size=1, alpha=0.5"),
    "a window of more channels than there are": lrn("size=15, alpha=3.0, beta=0.5"),
    "one of another power": lrn("size=3, alpha=2.0, beta=0.6, bias=0.5"),
    "axes that are an attribute": [lrn("size=3, alpha=2.0, beta=1.0"), { opset: 9 }],
  },
  leaves: {
    "planes that may have no elements": ["(x: f32[N,6,H,5]) -> (y) { y = LRN<size=3>(x) }", null],
    "a line": ["(x: f32[N,6,5]) -> (y) { y = LRN<size=3>(x) }", null],
    "a volume": ["(x: f32[N,6,5,5,5]) -> (y) { y = LRN<size=3>(x) }", null],
    "half precision": ["(x: f16[N,6,5,5]) -> (y) { y = LRN<size=3>(x) }", null],
    "what is an average of nothing": [
      "(x: f32[N,6,0,5]) -> (z) { y = LRN<size=3>(x) z = ReduceSum<keepdims=0>(y) }",
      null,
    ],
    "what divides by zero": [lrn("size=3, bias=0.0"), null],
    "what takes powers of less than zero": [lrn("size=3, alpha=-1.0"), null],
    "what runs elsewhere": [
      lrn("size=3"),
      "NVIDIA TensorRT 11: its kernel for LRN takes one element after the other",
      { target: "tensorrt" },
    ],
  },
});
