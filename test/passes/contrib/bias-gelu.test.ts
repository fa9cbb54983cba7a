import { fuseBiasGelu } from "../../../src/passes/contrib/bias-gelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const opset20 = { opset: 20 };
const ADDEND = "the addend is not one number per element of the last axis";

testRewrite(fuseBiasGelu, {
  rewrites: {
    "Add and Gelu": ["(x: f32[N,3,4]) -> (y) { a = Add(x, $b: f32[4])\n y = Gelu(a) }", opset20],
    "the bias first": ['(x: f32[N,4]) -> (y) { a = Add($b: f32[4], x)\n y = Gelu<approximate="none">(a) }', opset20],
    "the tanh form": ['(x: f32[N,3,4]) -> (y) { a = Add(x, $b: f32[4])\n y = Gelu<approximate="tanh">(a) }', opset20],
    "a bias that is computed": ["(x: f32[N,4], b: f32[4]) -> (y) { a = Add(x, b)\n y = Gelu(a) }", opset20],
    "FastGelu of the runtime's own domain":
      "(x: f32[N,4]) -> (y) { a = Add(x, $b: f32[4])\n y = com.microsoft::FastGelu(a) }",
    "Gelu of the runtime's own domain": "(x: f32[N,4]) -> (y) { a = Add(x, $b: f32[4])\n y = com.microsoft::Gelu(a) }",
  },
  leaves: {
    "a FastGelu that has a bias": [
      "(x: f32[4,4]) -> (y) { a = Add(x, $b: f32[4])\n y = com.microsoft::FastGelu(a, $c: f32[4]) }",
      null,
    ],
    "a sum that others read": ["(x: f32[4,4]) -> (y, a) { a = Add(x, $b: f32[4])\n y = Gelu(a) }", null, opset20],
    "a sum of equals": ["(x: f32[4,4], b: f32[4,4]) -> (y) { a = Add(x, b)\n y = Gelu(a) }", ADDEND, opset20],
    "a number": ["(x: f32[4,4]) -> (y) { a = Add(x, $b: f32[])\n y = Gelu(a) }", ADDEND, opset20],
    "a vector that widens": ["(x: f32[4,1]) -> (y) { a = Add(x, $b: f32[4])\n y = Gelu(a) }", ADDEND, opset20],
    "an axis of unknown length": ["(x: f32[4,N], b: f32[M]) -> (y) { a = Add(x, b)\n y = Gelu(a) }", ADDEND, opset20],
    "Gelu without Add": ["(x: f32[4,4]) -> (y) { y = Gelu(x) }", null, opset20],
    float16: [
      "(x: f16[4,4], b: f16[4]) -> (y) { a = Add(x, b)\n y = Gelu(a) }",
      "BiasGelu and FastGelu compute in f32 only",
      opset20,
    ],
  },
});
