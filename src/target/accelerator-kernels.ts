/**
 * Integer kernels of places other than ONNX Runtime on the CPU, from their documents: none of
 * them could be run for this table. Files for them are checked with ONNX Runtime on the CPU,
 * which computes what the Q/DQ pairs say.
 */
import {
  compute,
  elementwise,
  type IntegerTarget,
  type KernelTable,
  kernelsOf,
  passthrough,
} from "./integer-kernel.js";

const execution = "https://onnxruntime.ai/docs/execution-providers";

const moves = "Reshape Transpose Squeeze Unsqueeze Flatten Slice MaxPool";

/** Symmetric signed integers only, and no integer biases: it adds those in float. */
const tensorRt: KernelTable = {
  ...kernelsOf("Conv ConvTranspose Gemm", compute(false)),
  MatMul: { ...compute(false), ofActivations: true },
  Add: elementwise(),
  ...kernelsOf("AveragePool GlobalAveragePool", elementwise([0])),
  ...kernelsOf(`${moves} Gather`, passthrough),
};

/** Its plugins run these on 8 bits; what only moves elements carries them along. */
const openVino: KernelTable = {
  ...kernelsOf("Conv ConvTranspose Gemm", compute(false)),
  MatMul: { ...compute(false), ofActivations: true },
  ...kernelsOf("Add Mul", elementwise()),
  ...kernelsOf("AveragePool GlobalAveragePool", elementwise([0])),
  ...kernelsOf(`${moves} Split Concat`, passthrough),
};

/** A node with a pair before each input and behind its output becomes one of its own. */
const nnApi: KernelTable = {
  ...kernelsOf("Conv Gemm MatMul", compute(true)),
  ...kernelsOf("Add Mul Concat", elementwise()),
  ...kernelsOf("AveragePool Sigmoid Softmax", elementwise([0])),
  ...kernelsOf("Reshape Transpose MaxPool", passthrough),
};

const qnn: KernelTable = {
  ...kernelsOf("Conv ConvTranspose Gemm", compute(true)),
  MatMul: { ...compute(true), ofActivations: true },
  ...kernelsOf("Add Sub Mul Div Concat", elementwise()),
  ...kernelsOf("AveragePool GlobalAveragePool Sigmoid Softmax Tanh HardSwish Gelu LeakyRelu Resize", elementwise([0])),
  Where: elementwise([1, 2]),
  ...kernelsOf(`${moves} Split Gather Tile`, passthrough),
};

const asymmetric = { activations: "u8", dynamic: false, weightLimit: 127, saturatesPairs: false } as const;

export const accelerators: readonly IntegerTarget[] = [
  {
    ...asymmetric,
    name: "tensorrt",
    title: "NVIDIA TensorRT",
    kernels: tensorRt,
    activations: "i8",
    bias: "float",
    isMeasurable: false,
    sources: [
      "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/quantized-types-explicit-quantization.html",
    ],
  },
  {
    ...asymmetric,
    name: "openvino",
    title: "OpenVINO",
    kernels: openVino,
    bias: "float",
    isMeasurable: false,
    sources: [
      "https://docs.openvino.ai/2026/openvino-workflow/model-optimization-guide/quantizing-models-post-training.html",
    ],
  },
  {
    ...asymmetric,
    name: "nnapi",
    title: "NNAPI in ONNX Runtime",
    kernels: nnApi,
    bias: "i32",
    isMeasurable: false,
    sources: [`${execution}/NNAPI-ExecutionProvider.html`],
  },
  {
    ...asymmetric,
    name: "qnn",
    title: "QNN (HTP) in ONNX Runtime",
    kernels: qnn,
    bias: "i32",
    isMeasurable: false,
    sources: [`${execution}/QNN-ExecutionProvider.html`],
  },
  {
    ...asymmetric,
    name: "coreml",
    title: "Core ML in ONNX Runtime",
    kernels: {},
    bias: "i32",
    isMeasurable: false,
    sources: [`${execution}/CoreML-ExecutionProvider.html`],
  },
  {
    ...asymmetric,
    name: "ort-web",
    title: "ONNX Runtime Web, WebGPU",
    kernels: {},
    bias: "i32",
    isMeasurable: false,
    sources: ["https://github.com/microsoft/onnxruntime/blob/main/js/web/docs/webgpu-operators.md"],
  },
  {
    ...asymmetric,
    name: "cuda",
    title: "CUDA in ONNX Runtime",
    kernels: {},
    bias: "i32",
    isMeasurable: false,
    sources: ["https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html"],
  },
];
