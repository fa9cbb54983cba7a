/**
 * ONNX Runtime: the CPU provider by release, and its Web build, whose nodes run on the GPU
 * (WebGPU) where there is a kernel and in WebAssembly, with the kernels of the CPU, elsewhere.
 */
import type { DType, Node } from "../ir/index.js";
import { type Limit, type OperatorTable, plain, rankOf, upToOpset } from "./limits.js";
import type { Objection, Target } from "./target.js";

/**
 * [release, newest opset, newest IR version]. Up to 1.20 from the project's table of
 * compatibility; from 1.21 on found by loading a model of every opset and IR version.
 */
const releases: readonly (readonly [release: string, opset: number, irVersion: number])[] = [
  ["1.30", 26, 13],
  ["1.29", 26, 13],
  ["1.28", 26, 13],
  ["1.27", 26, 13],
  ["1.26", 26, 13],
  ["1.25", 26, 13],
  ["1.24", 25, 13],
  ["1.23", 23, 11],
  ["1.22", 22, 10],
  ["1.21", 22, 10],
  ["1.20", 21, 10],
  ["1.19", 21, 10],
  ["1.18", 21, 10],
  ["1.17", 20, 9],
  ["1.16", 19, 9],
  // It reads 19 as well, but has no kernel there for Cast, Reshape, Shape, Pad and others.
  ["1.15", 18, 8],
  ["1.14", 18, 8],
  ["1.13", 17, 8],
  ["1.12", 17, 8],
  ["1.11", 16, 8],
  ["1.10", 15, 8],
  ["1.9", 15, 8],
  ["1.8", 14, 7],
  ["1.7", 13, 7],
  ["1.6", 13, 7],
  ["1.5", 12, 7],
];

export const ortReleases: readonly string[] = releases.map(([release]) => release);

const compatibility = "https://onnxruntime.ai/docs/reference/compatibility.html";

/**
 * [opset from which on the CPU provider has no kernel, release of 1.x that got one], found
 * by loading each operator at every opset with the releases from 1.15 on.
 */
const missing: Readonly<Record<string, readonly [from: number, until?: number]>> = {
  Bernoulli: [22],
  DeformConv: [19, 25],
  GlobalLpPool: [22],
  ImageDecoder: [20],
  LpNormalization: [22, 25],
  MaxRoiPool: [22],
  Multinomial: [22],
  QLinearMatMul: [21, 20],
  QuantizeLinear: [23, 24],
  RandomNormal: [22],
  RandomNormalLike: [22],
  RandomUniform: [22],
  RandomUniformLike: [22],
  RoiAlign: [22],
  // Opset 24 itself works: the runtime spells it out there.
  Swish: [25],
  TensorScatter: [24, 25],
};

/** Domains whose operators it brings; others take a library that is registered with the session. */
const ownDomains: ReadonlySet<string> = new Set([
  ...["", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training", "com.microsoft"],
  ...["com.microsoft.nchwc", "com.ms.internal.nhwc"],
]);

/**
 * Element types without a kernel, found the same way with every type that the specification has. At opset 18 the runtime
 * spells these operators out, by the function that the specification gives for that opset, and at none beyond.
 */
const spelledOut: Readonly<Record<string, readonly DType[]>> = {
  Elu: ["f64"],
  HardSigmoid: ["f64"],
  HardSwish: ["f64"],
  LeakyRelu: ["f64"],
  Mish: ["f64"],
  PRelu: ["f64", "i32", "i64"],
  ReduceLogSumExp: ["u32", "u64"],
  Relu: ["i64"],
  Selu: ["f64"],
  Softplus: ["f64"],
  Softsign: ["f64"],
  ThresholdedRelu: ["f64"],
};
const NEWEST_SPELLED_OUT = 18;

/** Opsets at which the runtime spells an operator out by a function that does not hold for a type: then it refuses the model. */
const misspelled: Readonly<Record<string, Partial<Record<DType, readonly number[]>>>> = {
  MeanVarianceNormalization: { f16: [13, 18] },
};

function misspelledAt({ op, domain, inputs }: Node, opset: number): Objection | null {
  const dtype = inputs[0]?.dtype;
  const opsets = domain === "" && dtype && Object.hasOwn(misspelled, op) ? misspelled[op]![dtype] : undefined;
  if (!opsets?.includes(opset)) return null;
  return {
    weight: "refused",
    reason: `it refuses ${op} of ${dtype} at opset ${opset}`,
    advice: `Bring the model to an opset other than ${opsets.join(" and ")}.`,
  };
}

interface Gap {
  readonly what: string;
  readonly from: number;
  readonly until?: number | undefined;
}

function gapOf({ op, domain, inputs }: Node): Gap | null {
  if (domain !== "") return null;
  const dtype = inputs[0]?.dtype;
  if (dtype && Object.hasOwn(spelledOut, op) && spelledOut[op]!.includes(dtype)) {
    return { what: `${op} of ${dtype}`, from: NEWEST_SPELLED_OUT + 1 };
  }
  if (!Object.hasOwn(missing, op)) return null;
  const [from, until] = missing[op]!;
  return { what: op, from, until };
}

function missingOnCpu(node: Node, opset: number, release: string): Objection | null {
  const { op, domain } = node;
  if (!ownDomains.has(domain)) {
    return {
      weight: "refused",
      reason: `it has no operators of the domain ${domain}`,
      advice: "Register the library that brings them with the session.",
    };
  }
  const gap = gapOf(node);
  if (!gap || opset < gap.from) return null;
  const { what, from, until } = gap;
  if (until !== undefined && Number(release.split(".")[1]) >= until) return null;
  const newer = until === undefined ? "" : `, or use release 1.${until} or later`;
  return {
    weight: "refused",
    reason: `it has no kernel for ${what} from opset ${from} on`,
    advice:
      op === "ImageDecoder" ? "Decode before the model." : `Keep the model at opset ${from - 1} or below${newer}.`,
  };
}

export function ortCpu(name: string, release: string): Target {
  const [, opset, irVersion] = releases.find(([known]) => known === release)!;
  return {
    name,
    title: `ONNX Runtime ${release}, CPU`,
    oldestOpset: 7,
    newestOpset: opset,
    newestIrVersion: irVersion,
    sources: [compatibility],
    objectionTo: (node, opset) => missingOnCpu(node, opset, release) ?? misspelledAt(node, opset),
    openSizes: null,
  };
}

/** The list of operators with a WebGPU kernel that onnxruntime-web 1.30 carries in docs/webgpu-operators.md. */
const webGpu: OperatorTable = {
  ...plain(`
    Abs Acos Acosh Add ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization Cast Ceil Clip Concat Cos Cosh
    CumSum DFT DepthToSpace DequantizeLinear Div Einsum Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements
    GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual HardSigmoid HardSwish If
    InstanceNormalization LayerNormalization LeakyRelu Less LessOrEqual Log MatMul MaxPool Mul Neg Not Pad Pow Range
    Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare Relu Reshape Resize ScatterND Shape Sigmoid SimplifiedLayerNormalization Sin Sinh Slice Softmax Split
    Sqrt Squeeze Sub Tan Tanh ThresholdedRelu Tile Transpose Unsqueeze Where
    com.microsoft::Attention com.microsoft::BiasAdd com.microsoft::BiasSplitGelu com.microsoft::FastGelu
    com.microsoft::FusedConv com.microsoft::GatherBlockQuantized com.microsoft::Gelu com.microsoft::GroupQueryAttention
    com.microsoft::MatMulNBits com.microsoft::MultiHeadAttention com.microsoft::QuickGelu com.microsoft::RotaryEmbedding
    com.microsoft::SkipLayerNormalization com.microsoft::SkipSimplifiedLayerNormalization`),
  // Neither is there in three dimensions.
  Conv: [rankOf(3, 4)],
  ConvTranspose: [rankOf(3, 4)],
  GridSample: [upToOpset(19)],
};

/** The language of WebGPU shaders has no 64-bit floats (https://www.w3.org/TR/WGSL/#types). */
const noDoubles: Limit = ({ inputs }) =>
  inputs.some((value) => value?.dtype === "f64") ? "it has no 64-bit floats" : null;

export function ortWeb(name: string, release: string): Target {
  const cpu = ortCpu(name, release);
  return {
    ...cpu,
    title: `ONNX Runtime Web ${release}, WebGPU`,
    sources: [
      compatibility,
      "https://github.com/microsoft/onnxruntime/blob/main/js/web/docs/webgpu-operators.md",
      "https://www.w3.org/TR/WGSL/",
    ],
    objectionTo: (node, opset) =>
      cpu.objectionTo(node, opset) ?? beyond(webGpu, [noDoubles], node, opset, "WebAssembly"),
  };
}

/** What a provider with kernels for some operators leaves to the CPU kernels of ONNX Runtime. */
export function beyond(
  table: OperatorTable,
  common: readonly Limit[],
  node: Node,
  opset: number,
  where: string,
): Objection | null {
  const limits = Object.hasOwn(table, node.opName) ? table[node.opName]! : null;
  // A Constant is data, and an Identity is taken out before nodes are given to providers.
  if (!limits)
    return node.is("Constant") || node.is("Identity") ? null : fallBack(`it has no kernel for ${node.opName}`, where);
  for (const limit of [...limits, ...common]) {
    const reason = limit(node, opset);
    if (reason !== null) return fallBack(reason, where);
  }
  return null;
}

const fallBack = (reason: string, where: string): Objection => ({
  weight: "elsewhere",
  reason,
  advice: `It runs in ${where}, with copies to and from there; replace it where that costs too much.`,
});
