import { inlineRuntimeLayerNorm, inlineRuntimeRmsNorm } from "../../../../src/passes/contrib/inline/normalization.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const skipped = (inputs: string, outputs = "y", attributes = ""): string =>
  `(x: f32[N,3,8], s: f32[N,3,8]) -> (${outputs.replaceAll("_, ", "")}) {
    ${outputs} = com.microsoft::SkipLayerNormalization${attributes}(x, s, $g: f32[8]${inputs})
  }`;
const simplified = (inputs = "", outputs = "y"): string =>
  `(x: f32[N,3,8], s: f32[N,3,8]) -> (${outputs.replaceAll("_, ", "")}) {
    ${outputs} = com.microsoft::SkipSimplifiedLayerNormalization<epsilon=0.001>(x, s, $g: f32[8]${inputs})
  }`;

testRewrite(inlineRuntimeLayerNorm, {
  rewrites: {
    "a sum with an offset": skipped(", $b: f32[8]"),
    "one without": skipped(""),
    "a bias between, and an epsilon": skipped(", $b: f32[8], $c: f32[8]", "y", "<epsilon=0.01>"),
    "what is added to each batch": skipped(", $b: f32[8]").replace("s: f32[N,3,8]", "s: f32[3,8]"),
    "a sum that is read, too": skipped(", $b: f32[8], $c: f32[8]", "y, _, _, z"),
  },
  leaves: {
    "what is larger than the first": [
      skipped(", $b: f32[8]").replace("x: f32[N,3,8]", "x: f32[1,3,8]"),
      "what is added may be larger: the result has the shape of the first input",
    ],
    "half precision": [skipped(", $b: f32[8]").replaceAll("f32", "f16"), null],
  },
});

const opset18 = { opset: 18 };
testRewrite(inlineRuntimeRmsNorm, {
  rewrites: {
    "a sum": [simplified(), opset18],
    "a bias between, and a sum that is read": [simplified(", $c: f32[8]", "y, _, _, z"), opset18],
    "one of an older opset": "(x: f32[N,3,8]) -> (y) { y = SimplifiedLayerNormalization<axis=2>(x, $g: f32[8]) }",
    "one without a sum": [
      "(x: f32[N,3,8]) -> (y) { y = SimplifiedLayerNormalization<axis=-1, epsilon=0.001>(x, $g: f32[8]) }",
      opset18,
    ],
    "one that says no epsilon": ["(x: f32[N,3,8]) -> (y) { y = SimplifiedLayerNormalization(x, $g: f32[8]) }", opset18],
  },
  leaves: {
    "two axes": [
      "(x: f32[N,3,8]) -> (y) { y = SimplifiedLayerNormalization<axis=1>(x, $g: f32[3,8]) }",
      "its axis is not the last",
    ],
    "half precision": [simplified().replaceAll("f32", "f16"), null, opset18],
  },
});
