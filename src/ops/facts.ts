/**
 * What is true of an operator whatever its inputs are: one table, asked by every
 * pass. An operator that is not in it, and every operator of another domain, gets
 * the cautious answer: it may do anything, so it is neither merged, folded nor removed.
 */
import type { Node } from "../ir/index.js";

/** One number of all elements along some axes, as many as the operator is told. */
export const axisReductions =
  "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare".split(
    " ",
  );

const families = {
  /** One input; every output element depends on the input element in its place only; same shape and type. */
  unary:
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish " +
    "Identity LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign " +
    "Sqrt Swish Tan Tanh ThresholdedRelu",
  /** Numpy broadcasting over all inputs. */
  broadcasting:
    "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min " +
    "Mod Mul Or Pow PRelu Sub Sum Where Xor",
  /** Elements are moved, repeated or dropped, never computed with. */
  movement:
    "CenterCropPad Compress Concat ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND " +
    "OneHot Pad Range Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split " +
    "Squeeze TensorScatter Tile Transpose Trilu Unsqueeze Upsample",
  reduction:
    "ArgMax ArgMin CumProd CumSum GlobalAveragePool GlobalLpPool GlobalMaxPool Hardmax LogSoftmax NonZero Softmax TopK " +
    `Unique ${axisReductions.join(" ")}`,
  computation:
    "AffineGrid Attention AveragePool BatchNormalization BlackmanWindow Clip Col2Im Conv ConvInteger ConvTranspose " +
    "DFT DeformConv Det DynamicQuantizeLinear Einsum GRU Gemm GridSample GroupNormalization HammingWindow HannWindow " +
    "ImageDecoder InstanceNormalization LRN LSTM LayerNormalization LpNormalization LpPool MatMul MatMulInteger MaxPool " +
    "MaxRoiPool MaxUnpool MeanVarianceNormalization MelWeightMatrix NegativeLogLikelihoodLoss NonMaxSuppression QLinearConv " +
    "QLinearMatMul QuantizeLinear DequantizeLinear RMSNormalization RNN RegexFullMatch Resize RoiAlign RotaryEmbedding " +
    "STFT SoftmaxCrossEntropyLoss StringConcat StringNormalizer StringSplit TfIdfVectorizer",
  conversion: "BitCast Cast CastLike Constant IsInf IsNaN",
  /** Values that are sequences or optionals: they cannot be constants. */
  container:
    "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty " +
    "SequenceErase SequenceInsert SequenceLength SplitToSequence",
  /** Nested bodies; as pure as what is in them. */
  control: "If Loop Scan SequenceMap",
  random: "Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
} as const;

export type OpFamily = keyof typeof families;

const familyByOp: ReadonlyMap<string, OpFamily> = new Map(
  (Object.keys(families) as OpFamily[]).flatMap((family) => families[family].split(" ").map((op) => [op, family])),
);

const commutative = new Set("Add And BitwiseAnd BitwiseOr BitwiseXor Equal Max Mean Min Mul Or Sum Xor".split(" "));

/** The result may have more elements than all inputs together, by an amount that an input's value says. */
const expanding = new Set(
  (
    "BlackmanWindow CenterCropPad Col2Im ConstantOfShape Expand EyeLike HammingWindow HannWindow MelWeightMatrix OneHot Pad " +
    "Range Resize Tile Upsample AffineGrid MaxUnpool"
  ).split(" "),
);

/**
 * Operators of com.microsoft that our fusions make, or read: computations, all of them.
 * Once made they are neither merged nor folded, but they go when nobody reads them.
 */
const contrib = new Set(
  (
    "Attention BiasGelu BiasSoftmax EmbedLayerNormalization FastGelu FusedConv FusedGemm FusedMatMul Gelu " +
    "GroupQueryAttention MultiHeadAttention QuickGelu RotaryEmbedding SkipLayerNormalization " +
    "SkipSimplifiedLayerNormalization"
  ).split(" "),
);

/** The family of an operator of ai.onnx; null for one that this version does not know. */
export const familyOf = (node: Node): OpFamily | null =>
  node.domain === "" ? (familyByOp.get(node.op) ?? null) : null;

/** Whether each element of the result depends on the element of the first input in its place, and on nothing else that has a place. */
export const isPointwise = (node: Node): boolean => familyOf(node) === "unary" || node.is("Clip");

/** Same inputs, same outputs, nothing else happens: equal calls may be merged. */
export function isPure(node: Node): boolean {
  const family = familyOf(node);
  if (family === null) return false;
  if (family === "random") return node.op === "Dropout" && isInferenceDropout(node);
  return family !== "control" || node.bodies.every((body) => [...body.nodes()].every(isPure));
}

/** Nothing is lost when nobody reads the outputs; random operators included. */
export function isRemovable(node: Node): boolean {
  if (node.domain === "com.microsoft") return contrib.has(node.op);
  const family = familyOf(node);
  if (family === null) return false;
  return family !== "control" || node.bodies.every((body) => [...body.nodes()].every(isRemovable));
}

/** Pure, without bodies, and made of tensors: may be computed once and for all when its inputs are constants. */
export function isFoldable(node: Node): boolean {
  const family = familyOf(node);
  return family !== null && family !== "control" && family !== "container" && isPure(node);
}

export const isCommutative = (node: Node): boolean => node.domain === "" && commutative.has(node.op);
export const isExpanding = (node: Node): boolean => node.domain === "" && expanding.has(node.op);

/** Dropout passes its input through unless it trains: said by an input since opset 12, by `is_test` before opset 7. */
export function isInferenceDropout(node: Node): boolean {
  const training = node.inputs[2];
  if (training) return training.constant?.bigints()?.every((value) => value === 0n) ?? false;
  return node.int("is_test", 1) !== 0;
}
