/** The mobile providers of ONNX Runtime: Core ML (as ML Program), NNAPI and QNN. What they lack runs on the CPU provider. */
import type { Node } from "../ir/index.js";
import {
  constantInput,
  intIs,
  type Limit,
  type OperatorTable,
  plain,
  rankOf,
  textIs,
  withoutAttribute,
} from "./limits.js";
import { beyond, ortCpu } from "./ort.js";
import type { Objection, Target } from "./target.js";

const sizes: Objection = {
  weight: "caution",
  reason: "open sizes, and a model may need fixed ones to run on the accelerator",
  advice: "Fix the sizes when the model is exported, or with `infer-opt fuse --shape`.",
};
const makeFixed = "https://onnxruntime.ai/docs/tutorials/mobile/helpers/make-dynamic-shape-fixed.html";

const float32Inputs: Limit = ({ inputs }) =>
  inputs.every((value) => !value?.dtype || value.dtype === "f32") ? null : "it takes float32 only";

/** By tools/ci_build/github/apple/coreml_supported_mlprogram_ops.md of ONNX Runtime. */
const coreMl: OperatorTable = {
  ...plain(`
    Add ArgMax Cast Clip Concat Cos Ceil Div Elu Erf Exp Gelu GroupNormalization HardSigmoid Identity
    InstanceNormalization LayerNormalization LeakyRelu Max Mul PRelu Range Reciprocal ReduceSum ReduceMean ReduceMax
    Relu Reshape Resize Round Shape Sin Softplus Sub Sigmoid Softmax Sqrt Squeeze Tanh Transpose Unsqueeze MatMul
    com.microsoft::QuickGelu com.microsoft::FusedConv`),
  AveragePool: [rankOf(4)],
  Conv: [rankOf(3, 4), constantInput(2, "B")],
  ConvTranspose: [
    constantInput(1, "W"),
    constantInput(2, "B"),
    textIs("auto_pad", "NOTSET", "NOTSET", "VALID"),
    withoutAttribute("output_shape", "output_padding"),
  ],
  DepthToSpace: [
    (node) =>
      node.string("mode", "DCR") === "CRD" && node.inputs[0]?.shape?.some((dim) => typeof dim !== "number")
        ? "in the mode CRD its input has to have fixed sizes"
        : null,
  ],
  GatherND: [intIs("batch_dims", 0, 0)],
  Gemm: [constantInput(1, "B"), intIs("transA", 0, 0)],
  GlobalAveragePool: [rankOf(4)],
  GlobalMaxPool: [rankOf(4)],
  GridSample: [rankOf(4), textIs("mode", "linear", "linear", "bilinear", "nearest")],
  MaxPool: [rankOf(4)],
  Pow: [float32Inputs],
  Slice: [constantInput(1, "starts"), constantInput(2, "ends"), constantInput(3, "axes"), constantInput(4, "steps")],
  Split: [constantInput(1, "split")],
  Tile: [rankOf(0, 1, 2, 3, 4, 5)],
};

/** Scales and zero points, at the places where quantized operators have them. */
const constantScales = (...indices: readonly number[]): readonly Limit[] =>
  indices.map((index) => constantInput(index, `${index}, a scale or zero point,`));
const pair = [1, 2];
const binary = [1, 2, 4, 5, 6, 7];
const unary = [1, 2, 3, 4];

/** By tools/ci_build/github/android/nnapi_supported_ops.md of ONNX Runtime. */
const nnApi: OperatorTable = {
  ...plain(`
    Abs Add Cast Clip Concat Div Elu Exp Flatten Floor Identity Log MatMul Max Min Mul Neg Pow PRelu Relu Reshape Sigmoid
    Sin Slice Softmax Sqrt Squeeze Sub Tanh Transpose Unsqueeze`),
  AveragePool: [rankOf(4)],
  Conv: [rankOf(4), constantInput(1, "W"), constantInput(2, "B")],
  DepthToSpace: [textIs("mode", "DCR", "DCR")],
  DequantizeLinear: constantScales(...pair),
  Gather: [(node, opset) => (node.inputs[1]?.dtype === "i32" ? null : constantInput(1, "indices")(node, opset))],
  Gemm: [
    (node, opset) =>
      node.int("transB", 0) === 1 || !constantInput(1, "B")(node, opset) ? null : "transB has to be 1 or B a constant",
  ],
  GlobalAveragePool: [rankOf(4)],
  GlobalMaxPool: [rankOf(4)],
  MaxPool: [rankOf(4)],
  Pad: [textIs("mode", "constant", "constant")],
  QLinearConv: [rankOf(4), constantInput(3, "w"), constantInput(8, "B"), ...constantScales(1, 2, 4, 5, 6, 7)],
  QLinearMatMul: constantScales(1, 2, 4, 5, 6, 7),
  QuantizeLinear: constantScales(...pair),
  Resize: [rankOf(4)],
  "com.microsoft::QLinearAdd": constantScales(...binary),
  "com.microsoft::QLinearAveragePool": [rankOf(4), ...constantScales(...unary)],
  "com.microsoft::QLinearSigmoid": constantScales(...unary),
};

function mobile(name: string, title: string, release: string, table: OperatorTable, source: string): Target {
  const cpu = ortCpu(name, release);
  return {
    ...cpu,
    title,
    sources: [source, makeFixed, ...cpu.sources],
    objectionTo: (node: Node, opset: number) =>
      cpu.objectionTo(node, opset) ?? beyond(table, [], node, opset, "ONNX Runtime on the CPU"),
    openSizes: sizes,
  };
}

const documents = "https://onnxruntime.ai/docs/execution-providers";
export const coreml = (name: string, release: string): Target =>
  mobile(
    name,
    `Core ML (ML Program) in ONNX Runtime ${release}`,
    release,
    coreMl,
    `${documents}/CoreML-ExecutionProvider.html`,
  );
export const nnapi = (name: string, release: string): Target =>
  mobile(name, `NNAPI in ONNX Runtime ${release}`, release, nnApi, `${documents}/NNAPI-ExecutionProvider.html`);

/** No document lists what QNN leaves to the CPU, form by form, so nothing is objected to but what the CPU lacks too. */
export const qnn = (name: string, release: string): Target => ({
  ...ortCpu(name, release),
  title: `QNN in ONNX Runtime ${release}`,
  sources: [`${documents}/QNN-ExecutionProvider.html`, makeFixed],
  openSizes: { ...sizes, weight: "elsewhere", reason: "open sizes, and it takes models of fixed ones only" },
});
