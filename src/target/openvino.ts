/**
 * OpenVINO: its ONNX reader has no rule for these operators. Found with release 2026.4 by
 * reading, compiling and running the models of ONNX's own conformance suite on its CPU device.
 */
import type { Node } from "../ir/index.js";
import { constantInput, type Limit } from "./limits.js";
import type { Objection, Target } from "./target.js";

const missing: ReadonlySet<string> = new Set([
  ...["Bernoulli", "BitCast", "CausalConvWithState", "CumProd", "DeformConv", "Det", "ImageDecoder", "LinearAttention"],
  ...["MaxUnpool", "MelWeightMatrix", "Optional", "OptionalGetElement", "OptionalHasElement", "RegexFullMatch"],
  ...["SequenceInsert", "SequenceMap", "StringConcat", "StringNormalizer", "StringSplit", "TensorScatter"],
  ...["TfIdfVectorizer"],
]);

const limits: Readonly<Record<string, Limit>> = {
  STFT: constantInput(1, "frame_step"),
  SplitToSequence: constantInput(1, "split"),
  Unsqueeze: constantInput(1, "axes"),
};

/** Rows of com.microsoft with a supported version in src/frontends/onnx/docs/supported_ops.md of OpenVINO. */
const contrib: ReadonlySet<string> = new Set([
  ...["Attention", "BiasAdd", "BiasGelu", "BiasSplitGelu", "DequantizeLinear", "DynamicQuantizeMatMul"],
  ...["EmbedLayerNormalization", "FastGelu", "FusedConv", "FusedGemm", "FusedMatMul", "GatherND", "Gelu"],
  ...["GroupQueryAttention", "MatMulIntegerToFloat", "MatMulNBits", "Pad", "QLinearAdd", "QLinearAveragePool"],
  ...["QLinearConcat", "QLinearLeakyRelu", "QLinearMul", "QLinearReduceMean", "QLinearSigmoid", "QLinearSoftmax"],
  ...["QLinearWhere", "QuantizeLinear", "QuickGelu", "Range", "RotaryEmbedding", "SimplifiedLayerNormalization"],
  ...["SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "Trilu"],
]);

/** Other domains of which it reads something; which operators of theirs is left open here. */
const openDomains: ReadonlySet<string> = new Set(["ai.onnx.ml", "org.openvinotoolkit", "org.pytorch.aten", "mmdeploy"]);

function isKnown({ op, domain }: Node): boolean {
  if (domain === "") return !missing.has(op);
  return domain === "com.microsoft" ? contrib.has(op) : openDomains.has(domain);
}

function objectionTo(node: Node, opset: number): Objection | null {
  const { op, domain } = node;
  if (!isKnown(node)) {
    return {
      weight: "refused",
      reason: `its reader has no rule for ${node.opName}`,
      advice: "Write that part of the model with other operators, or add a conversion rule with an OpenVINO extension.",
    };
  }
  const reason = domain === "" && Object.hasOwn(limits, op) ? limits[op]!(node, opset) : null;
  return reason === null
    ? null
    : { weight: "refused", reason, advice: "`infer-opt fold` turns what can be computed beforehand into constants." };
}

export const openVino = (name: string): Target => ({
  name,
  title: "OpenVINO 2026.4",
  oldestOpset: 7,
  newestOpset: 25,
  newestIrVersion: null,
  sources: ["https://github.com/openvinotoolkit/openvino/blob/master/src/frontends/onnx/docs/supported_ops.md"],
  zeros: {
    says: "its documents say that its CPU plugin keeps sparse INT8 weights of matrix products packed where the share of zeros is above CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
    source: "https://docs.openvino.ai/2025/api/c_cpp_api/group__ov__runtime__cpu__prop__cpp__api.html",
  },
  objectionTo,
  openSizes: null,
});
