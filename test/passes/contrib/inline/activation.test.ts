import {
  inlineRuntimeActivation,
  inlineRuntimeGelu,
  inlineRuntimeQuickGelu,
} from "../../../../src/passes/contrib/inline/activation.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const conv = (attributes: string, more = ""): string => `(x: f32[N,3,6,6], z: f32[N,4,6,6]) -> (y) {
  y = com.microsoft::FusedConv<pads=[1,1,1,1], ${attributes}>(x, $w: f32[4,3,3,3], $b: f32[4]${more})
}`;
const gemm = (attributes: string): string => `(x: f32[N,3]) -> (y) {
  y = com.microsoft::FusedGemm<${attributes}>(x, $w: f32[4,3], $b: f32[4])
}`;
const opset20 = { opset: 20 };
const gelu = (op: string, inputs = ""): string => `(x: f32[N,5]) -> (y) { y = com.microsoft::${op}(x${inputs}) }`;

testRewrite(inlineRuntimeActivation, {
  rewrites: {
    "a Conv and Relu": conv('activation="Relu"'),
    "a Conv and what is added": conv('activation="Relu"', ", z"),
    "a Conv and LeakyRelu": conv('activation="LeakyRelu", activation_params=[0.3]'),
    "a Conv and Clip": conv('activation="Clip", activation_params=[-0.5, 0.5]'),
    "a Conv and HardSigmoid": conv('activation="HardSigmoid", activation_params=[0.1, 0.4]'),
    "a Conv and Sigmoid, without a bias": conv('activation="Sigmoid"').replace(", $b: f32[4]", ""),
    "a Conv and Tanh": conv('activation="Tanh"'),
    "a Conv without an activation, and what is added": conv("group=1", ", z"),
    "a Conv and HardSwish": conv('activation="HardSwish"'),
    "a Gemm and Elu": gemm('transB=1, activation="Elu", activation_alpha=0.7'),
    "a Gemm and Softplus": gemm('transB=1, activation="Softplus"'),
    "a Gemm and ThresholdedRelu": gemm('transB=1, activation="ThresholdedRelu", activation_alpha=0.2'),
    "a Gemm and Relu": gemm('transB=1, alpha=0.5, activation="Relu"'),
    "a Gemm and LeakyRelu": gemm('transB=1, activation="LeakyRelu", activation_alpha=0.3'),
  },
  leaves: {
    "half precision": [conv('activation="Relu"').replaceAll("f32", "f16"), null],
    "an activation that is not known": [
      gemm('transB=1, activation="ScaledTanh"'),
      "an activation that is not known: ScaledTanh",
    ],
  },
});

testRewrite(inlineRuntimeGelu, {
  rewrites: {
    BiasGelu: [gelu("BiasGelu", ", $b: f32[5]"), opset20],
    FastGelu: [gelu("FastGelu"), opset20],
    "FastGelu with a bias": [gelu("FastGelu", ", $b: f32[5]"), opset20],
    Gelu: [gelu("Gelu"), opset20],
  },
  leaves: {
    "half precision": [gelu("Gelu").replace("f32", "f16"), null, opset20],
    "Gelu of ai.onnx": ["(x: f32[N,5]) -> (y) { y = Gelu(x) }", null, opset20],
  },
});

testRewrite(inlineRuntimeQuickGelu, {
  rewrites: {
    "its own factor": gelu("QuickGelu"),
    "a factor": gelu("QuickGelu<alpha=1.0>"),
  },
  leaves: {
    "half precision": [gelu("QuickGelu").replace("f32", "f16"), null],
  },
});
