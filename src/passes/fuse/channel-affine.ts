/**
 * y[m] = x[m] * scale[m] + shift[m] along the channel axis, and what becomes of a
 * linear node whose output goes through it:
 *
 *   W'[m] = W[m] * scale[m]        b'[m] = b[m] * scale[m] + shift[m]
 *
 * Computed in double precision. Old constants stay, since other nodes may read them.
 */
import { f32ToF16 } from "../../base/f16.js";
import { type Attribute, attr, type DType, type Node, Tensor, type Value } from "../../ir/index.js";
import type { Answer, RewriteContext } from "../../rewrite/index.js";
import { constantOf, readsOnlyFirst, splitConstant } from "../../rewrite/match.js";
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
  if (!gamma || !beta || !mean || !variance) return "statistics are not f32 or f16 constants, one number per channel";
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
  if (!values) return "the constant is neither f32 nor f16";
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

/** The linear node with the affine map folded in; a Skip when numbers leave the range of the type. */
export function foldAffine(linear: Linear, { scale, shift }: ChannelAffine, context: RewriteContext): Answer {
  const { node, weightTensor, weightData, channelOf, channels } = linear;
  const { dtype } = weightTensor;
  const newWeight = scale && weightData.map((value, i) => value * scale[channelOf(i)]!);
  const newBias = Float32Array.from(linear.bias, (b, m) => b * (scale?.[m] ?? 1) + (shift?.[m] ?? 0));
  const weight = newWeight ? tensorLike(dtype, weightTensor.dims, newWeight) : weightTensor;
  const bias = tensorLike(dtype, [channels], newBias);
  if (!weight || !bias) return context.skip(`folded weights leave the range of ${dtype}`);
  const hasBias = shift !== null || newBias.some((value) => value !== 0);
  const weightValue: Value = newWeight ? context.constant(linear.weight.label, weight) : linear.weight;
  const inputs = [node.inputs[0]!, weightValue];
  if (hasBias) inputs.push(context.constant(linear.biasLabel, bias));
  if (node.op === "MatMul") {
    return hasBias
      ? context.create("Gemm", inputs, {}, { like: node })
      : context.create("MatMul", inputs, {}, { like: node });
  }
  const attributes = new Map<string, Attribute>(node.attributes);
  if (node.op === "Gemm" && attributes.has("beta")) attributes.set("beta", attr.float(1));
  // Until opset 10 a Gemm always had a C.
  if (node.op === "Gemm" && !hasBias && context.opset < 11) inputs.push(context.constant(linear.biasLabel, bias));
  return context.create(node.op, inputs, attributes, { like: node });
}

/** A tensor of f32 or f16; null when an element is not finite in it. */
export function tensorLike(dtype: DType, dims: readonly number[], data: Float32Array): Tensor | null {
  if (!data.every(Number.isFinite)) return null;
  if (dtype === "f32") return Tensor.f32(dims, data);
  const bits = f32ToF16(data);
  return bits.some((word) => (word & 0x7c00) === 0x7c00) ? null : Tensor.ofArray("f16", dims, bits);
}
