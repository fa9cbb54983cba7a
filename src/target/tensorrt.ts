/**
 * NVIDIA TensorRT: operators as onnx-tensorrt lists them (docs/operators.md, release 10.1),
 * with Attention, which its release 10.14 added. What is not there stops the parser.
 */
import type { DType, Node } from "../ir/index.js";
import {
  constantInput,
  dtypeOf,
  fixedSizes,
  intIs,
  type Limit,
  type OperatorTable,
  outputsUpTo,
  plain,
  rankOf,
  textIs,
  undilated,
  withoutAttribute,
  zeroZeroPoint,
} from "./limits.js";
import type { Objection, Target } from "./target.js";

const reduce: readonly Limit[] = [constantInput(1, "axes")];
const quantized: readonly DType[] = ["i8", "i4", "f8e4m3fn", "f4e2m1"];

const quantizesTo: Limit = ({ inputs, output }) => {
  const dtype = inputs[2]?.dtype ?? output.dtype;
  return !dtype || quantized.includes(dtype) ? null : `it quantizes to ${quantized.join(", ")}, not ${dtype}`;
};

const operators: OperatorTable = {
  ...plain(`
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention BatchNormalization Cast CastLike Ceil Celu Clip
    Concat ConstantOfShape Conv ConvTranspose Cos Cosh DepthToSpace Div Einsum Elu Equal Erf Exp Expand Flatten Floor
    Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual
    GroupNormalization GRU HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LeakyRelu Less
    LessOrEqual Log LogSoftmax Loop LRN LpNormalization MatMul Max Mean MeanVarianceNormalization Min Mish Mod Mul Neg
    NonMaxSuppression NonZero Not Or Pow PRelu RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range
    Reciprocal Relu Reshape ReverseSequence RNN RoiAlign Round Scan Scatter ScatterElements Selu Shape Shrink Sigmoid
    Sign Sin Sinh Size Softmax Softplus Softsign SpaceToDepth Split Sqrt Sub Sum Tan Tanh ThresholdedRelu Tile Transpose
    Trilu Upsample Where Xor`),
  AveragePool: [rankOf(4, 5), undilated],
  Constant: [withoutAttribute("sparse_value", "value_string", "value_strings")],
  CumSum: [constantInput(1, "axis")],
  DeformConv: [rankOf(3, 4)],
  DequantizeLinear: [zeroZeroPoint, dtypeOf(0, ...quantized)],
  Dropout: [constantInput(2, "training_mode")],
  EyeLike: [fixedSizes],
  GridSample: [rankOf(4)],
  LayerNormalization: [outputsUpTo(1)],
  LSTM: [intIs("input_forget", 0, 0), intIs("layout", 0, 0)],
  LpPool: [undilated],
  MaxPool: [rankOf(4, 5), undilated, outputsUpTo(1)],
  OneHot: [constantInput(1, "depth")],
  Pad: [constantInput(3, "axes")],
  QuantizeLinear: [zeroZeroPoint, quantizesTo],
  ReduceL1: reduce,
  ReduceL2: reduce,
  ReduceLogSum: reduce,
  ReduceLogSumExp: reduce,
  ReduceMax: reduce,
  ReduceMean: reduce,
  ReduceMin: reduce,
  ReduceProd: reduce,
  ReduceSum: reduce,
  ReduceSumSquare: reduce,
  Resize: [
    textIs("mode", "nearest", "nearest", "linear"),
    textIs(
      "coordinate_transformation_mode",
      "half_pixel",
      ...["half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric", "align_corners"],
    ),
    textIs("keep_aspect_ratio_policy", "stretch", "stretch"),
    intIs("antialias", 0, 0),
  ],
  ScatterND: [textIs("reduction", "none", "none")],
  Slice: [constantInput(3, "axes")],
  Squeeze: reduce,
  TopK: [intIs("sorted", 1, 1)],
  Unsqueeze: reduce,
};

const dtypes: ReadonlySet<DType> = new Set([
  ...(["f32", "f16", "bf16", "f64", "i32", "i64", "bool", "u8"] as const),
  ...quantized,
]);

function objectionTo(node: Node, opset: number): Objection | null {
  const limits = Object.hasOwn(operators, node.opName) ? operators[node.opName]! : null;
  if (!limits) {
    return {
      weight: "refused",
      reason: `${node.opName} is not among the operators that it lists`,
      advice: "Write that part of the model with operators that it has, or give TensorRT a plugin of that name.",
    };
  }
  for (const limit of limits) {
    const reason = limit(node, opset);
    if (reason === null) continue;
    const advice =
      reason.includes("zero point") || reason.includes("quantizes")
        ? "Quantize symmetrically to signed 8 bits."
        : "Export that part of the model in another form; `infer-opt fold` turns what can be computed beforehand into constants.";
    return { weight: "refused", reason, advice };
  }
  for (const value of [...node.inputs, ...node.outputs]) {
    const dtype = value?.dtype;
    if (dtype && !dtypes.has(dtype))
      return { weight: "refused", reason: `it has no type ${dtype}`, advice: "Cast to a type that it has." };
    if (dtype === "f64")
      return { weight: "caution", reason: "it computes 64-bit floats in 32 bits", advice: "Cast to float32 yourself." };
  }
  return null;
}

const target: Omit<Target, "name"> = {
  title: "NVIDIA TensorRT 11",
  oldestOpset: 9,
  newestOpset: 25,
  newestIrVersion: null,
  sources: [
    "https://docs.nvidia.com/deeplearning/tensorrt/latest/reference/onnx-opset-guide.html",
    "https://github.com/onnx/onnx-tensorrt/blob/main/docs/operators.md",
    "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/work-with-quantized-types.html",
  ],
  zeros: {
    pattern: "2:4",
    says: "its documents say that GPUs from Ampere on run convolutions and products of matrices with 2:4 weights faster where the engine is built with SPARSE_WEIGHTS",
    source: "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/io-formats-sparsity.html",
  },
  objectionTo,
  openSizes: {
    weight: "caution",
    reason: "open sizes, so the engine needs an optimization profile",
    advice:
      "Give the smallest, usual and largest sizes when the engine is built (trtexec --minShapes --optShapes --maxShapes).",
  },
};

/** Release 10.1 is the newest whose list of operators states an opset of its own: 20. */
export const tensorRt = (name: string, release: string): Target =>
  release === "10" ? { ...target, name, title: "NVIDIA TensorRT 10", newestOpset: 20 } : { ...target, name };
