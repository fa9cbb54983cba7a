/**
 * y[m] = x[m] * scale[m] + shift[m] along the channel axis, and what becomes of a
 * linear node whose output goes through it:
 *
 *   W'[m] = W[m] * scale[m]        b'[m] = b[m] * scale[m] + shift[m]
 *
 * Computed in double precision. Old constants stay, since other nodes may read them.
 */
import { type Attribute, attr, type Node, type Tensor, type Value } from "../../ir/index.js";
import type { Answer, RewriteContext } from "../../rewrite/index.js";
import { constantOf, readsOnlyFirst, splitConstant } from "../../rewrite/match.js";
import { scaledTensor, tensorLike } from "./computed-tensor.js";
import { floatsOf, type Linear } from "./linear.js";

export interface ChannelAffine {
  /** [channels], or null for one everywhere. */
  readonly scale: Float64Array | null;
  /** [channels], or null for zero everywhere. */
  readonly shift: Float64Array | null;
}

/** BatchNormalization in inference: scale = gamma / sqrt(variance + epsilon), shift = beta - mean * scale. A reason when it cannot be read. */
export function affineOfBatchNorm(norm: Node, opset: number, channels: number): ChannelAffine | string {
  if (norm.int("training_mode", 0) !== 0) return "BatchNormalization is in training mode";
  if (norm.int("spatial", 1) !== 1) return "BatchNormalization is per activation (spatial=0)";
  if (opset < 7 && norm.int("is_test", 0) === 0) return "BatchNormalization is in training mode (is_test=0)";
  if (!readsOnlyFirst(norm)) return "the running statistics are read";
  const statistics = norm.inputs.slice(1, 5).map((value) => {
    const tensor = constantOf(value);
    return tensor && tensor.dims.length === 1 && tensor.dims[0] === channels ? floatsOf(tensor) : null;
  });
  const [gamma, beta, mean, variance] = statistics;
  if (!gamma || !beta || !mean || !variance) return "statistics are no float constants, one number per channel";
  const epsilon = norm.float("epsilon", Math.fround(1e-5));
  const scale = Float64Array.from(gamma, (g, m) => g / Math.sqrt(variance[m]! + epsilon));
  return { scale, shift: scale.map((s, m) => beta[m]! - mean[m]! * s) };
}

export const arithmeticOps = ["Mul", "Div", "Add", "Sub"] as const;

/** Where a tensor's channels lie: of a linear node's output, or of its input. */
export type ChannelLayout = Pick<Linear, "weightTensor" | "channels" | "channelAxis" | "outputRank">;

/**
 * Mul, Div, Add or Sub of `x` and a constant that is one number or one per channel.
 * Null when the node is something else.
 */
export function affineOfArithmetic(node: Node, linear: ChannelLayout): ChannelAffine | string | null {
  const operands = splitConstant(node);
  if (!operands || node.attributes.has("axis") || node.attributes.has("broadcast")) return null;
  const tensor = operands.constant.constant!;
  const values = tensor.dtype === linear.weightTensor.dtype ? floatsOf(tensor) : null;
  if (!values) return "the constant is no float of the type of the weight";
  const { channels, channelAxis, outputRank } = linear;
  const rank = tensor.dims.length;
  if (rank > (outputRank ?? 1))
    return outputRank === null ? "the rank of the result is unknown" : "the constant would widen the result";
  const isPerChannel = tensor.dims.every((dim, i) => dim === 1 || (i - rank === channelAxis && dim === channels));
  if (!isPerChannel) return "the constant is not one number per channel";
  const each = Float64Array.from({ length: channels }, (_, m) => values[values.length === 1 ? 0 : m]!);
  const minus = (array: Float64Array): Float64Array => array.map((value) => -value);
  switch (node.op) {
    case "Mul":
      return { scale: each, shift: null };
    case "Div":
      return operands.index === 1 ? { scale: each.map((value) => 1 / value), shift: null } : null;
    case "Add":
      return { scale: null, shift: each };
    default:
      return operands.index === 1
        ? { scale: null, shift: minus(each) }
        : { scale: new Float64Array(channels).fill(-1), shift: each };
  }
}

/** New weights; the old ones where nothing changes. */
export interface FoldedWeights {
  readonly weight: Tensor;
  /** [channels], or null where nothing is added. */
  readonly bias: Tensor | null;
}

/** Weights with the affine map folded in; a reason when numbers leave the range of the type. */
export function foldedWeights(linear: Linear, { scale, shift }: ChannelAffine): FoldedWeights | string {
  const { weightTensor, order, channels } = linear;
  const { dtype } = weightTensor;
  const sums = Float64Array.from(linear.bias, (b, m) => b * (scale?.[m] ?? 1) + (shift?.[m] ?? 0));
  const weight = scale ? scaledTensor(weightTensor, scale, order) : weightTensor;
  const bias = tensorLike(dtype, [channels], sums);
  if (!weight || !bias) return `folded weights leave the range of ${dtype}`;
  return { weight, bias: shift !== null || sums.some((value) => value !== 0) ? bias : null };
}

/** The linear node with the affine map folded in. */
export function foldAffine(linear: Linear, affine: ChannelAffine, context: RewriteContext): Answer {
  const folded = foldedWeights(linear, affine);
  return typeof folded === "string"
    ? context.skip(folded)
    : withWeights(linear, linear.node.inputs[0]!, folded, context);
}

/** The linear node again, of another input and weights. What Gemm's beta said is in the bias. */
export function withWeights(
  { node, weight: old, biasLabel, channels, weightTensor }: Linear,
  x: Value,
  { weight, bias }: FoldedWeights,
  { constant, create, opset }: RewriteContext,
): Node {
  const inputs = [x, weight === weightTensor ? old : constant(old.label, weight)];
  if (bias) inputs.push(constant(biasLabel, bias));
  const { label, type } = node.output;
  const options = { like: node, labels: [label], types: [type] };
  if (node.op === "MatMul") return create(bias ? "Gemm" : "MatMul", inputs, {}, options);
  const attributes = new Map<string, Attribute>(node.attributes);
  if (node.op === "Gemm" && attributes.has("beta")) attributes.set("beta", attr.float(1));
  if (node.op === "Gemm" && !bias && opset < 11) {
    // Until opset 10 a Gemm always had a C.
    inputs.push(constant(biasLabel, tensorLike(weightTensor.dtype, [channels], new Float64Array(channels))!));
  }
  return create(node.op, inputs, attributes, options);
}
