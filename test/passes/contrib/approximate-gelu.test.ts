import { approximateGelu } from "../../../src/passes/contrib/approximate-gelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const opset20 = { opset: 20 };

testRewrite(approximateGelu, {
  rewrites: {
    "a Gelu": ["(x: f32[N,4]) -> (y) { y = Gelu(x) }", opset20],
    "a Gelu that says how": ['(x: f32[N,4]) -> (y) { y = Gelu<approximate="none">(x) }', opset20],
    "a Gelu of the runtime": "(x: f32[N,4]) -> (y) { y = com.microsoft::Gelu(x) }",
    "a Gelu with a bias": "(x: f32[N,4]) -> (y) { y = com.microsoft::BiasGelu(x, $b: f32[4]) }",
  },
  leaves: {
    "a Gelu by Tanh": ['(x: f32[N,4]) -> (y) { y = Gelu<approximate="tanh">(x) }', null, opset20],
    "a FastGelu": ["(x: f32[N,4]) -> (y) { y = com.microsoft::FastGelu(x) }", null],
    float16: ["(x: f16[N,4]) -> (y) { y = Gelu(x) }", "the Tanh form is quicker in f32 only", opset20],
    "a QuickGelu": ["(x: f32[N,4]) -> (y) { y = com.microsoft::QuickGelu(x) }", null],
  },
});
