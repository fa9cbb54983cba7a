/**
 * Conv(x * s, W, b)      =>  Conv(x, W', b)         W'[m, c] = W[m, c] * s[c]
 * Conv(x + t, W, b)      =>  Conv(x, W, b')         b'[m] = b[m] + sum over c, k of W[m, c, k] * t[c]
 * Conv(x * s + t, W, b)  =>  Conv(x + t/s, W', b)   where the Conv pads
 *
 * with s and t one number, or one per input channel. A Conv that pads takes no addend:
 * the border would lack it. Factors move past the addend then, since 0 * s is 0.
 * Computed in double precision.
 */
import type { Node, Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { broadcastsTo, soleProducer, splitConstant } from "../../rewrite/match.js";
import { affineOfArithmetic, arithmeticOps, type ChannelAffine, withWeights } from "./channel-affine.js";
import { tensorLike } from "./computed-tensor.js";
import { biasOfShifted, doesNotPad, type InputLayout, inputLayoutOf, weightOfScaled } from "./input-affine.js";
import { type Linear, linearOf } from "./linear.js";

export const fuseMulAddConv = defineRewrite({
  name: "fuse-mul-add-conv",
  summary: "Fold Mul, Div, Add, Sub by a constant into the Conv that reads them",
  numerics: "rounding",
  roots: ["Conv"],
  minOpset: 7,
  rewrite(conv, context) {
    const last = arithmeticBefore(conv.inputs[0]);
    if (!last) return null;
    if (last.mayWiden) return context.skip(WIDENS);
    const linear = linearOf(conv);
    if (typeof linear === "string") return context.skip(linear);
    const layout = inputLayoutOf(linear)!;
    const affine = affineOfArithmetic(last.node, layout);
    if (affine === null || typeof affine === "string") return affine === null ? null : context.skip(affine);
    const isShared = linear.weight.useCount > 1;
    if (affine.scale && isShared) return context.skip(SHARED);
    if (affine.scale && !affine.shift) return scaled(conv, linear, layout, affine.scale, last.other, context);
    if (affine.scale) return null; // c - x: nothing to gain by taking it apart
    if (doesNotPad(linear)) return shifted(linear, layout, affine.shift!, last.other, context);
    if (isShared) return context.skip(SHARED);
    return pastAddend(conv, linear, layout, affine, last.other, context);
  },
});

const SHARED = "other nodes read the weight";
const WIDENS = "the constant may widen what it is combined with";

interface Arithmetic {
  readonly node: Node;
  /** What the constant is combined with. */
  readonly other: Value;
  /** Whether the result may have another shape than `other`, which the Conv is to read instead. */
  readonly mayWiden: boolean;
}

function arithmeticBefore(value: Value | null | undefined): Arithmetic | null {
  for (const op of arithmeticOps) {
    const node = soleProducer(value, op);
    const operands = node && splitConstant(node);
    if (!operands) continue;
    const { constant, other } = operands;
    return { node, other, mayWiden: constant.shape?.length !== 0 && !broadcastsTo(constant, other) };
  }
  return null;
}

function scaled(
  conv: Node,
  linear: Linear,
  layout: InputLayout,
  scale: Float64Array,
  x: Value,
  context: RewriteContext,
): Answer {
  const weight = weightOfScaled(linear, layout, scale);
  if (!weight) return context.skip("folded weights leave the range of their type");
  const inputs = [x, context.constant(linear.weight.label, weight), ...conv.inputs.slice(2)];
  return context.create("Conv", inputs, conv.attributes, { like: conv });
}

function shifted(linear: Linear, layout: InputLayout, shift: Float64Array, x: Value, context: RewriteContext): Answer {
  const bias = biasOfShifted(linear, layout, shift);
  if (!bias) return context.skip("the folded bias leaves the range of its type");
  return withWeights(linear, x, { weight: linear.weightTensor, bias }, context);
}

function pastAddend(
  conv: Node,
  linear: Linear,
  layout: InputLayout,
  { shift }: ChannelAffine,
  sum: Value,
  context: RewriteContext,
): Answer {
  const first = arithmeticBefore(sum);
  if (first?.mayWiden) return context.skip(WIDENS);
  const inner = first && affineOfArithmetic(first.node, layout);
  if (!first || !inner || typeof inner === "string" || !inner.scale || inner.shift) {
    return context.skip("the Conv pads, and the border would lack the addend");
  }
  const { scale } = inner;
  const ratio = Float64Array.from(shift!, (t, c) => t / scale[c]!);
  if (!ratio.every(Number.isFinite)) return context.skip("the addend cannot be divided by the factor");
  const weight = weightOfScaled(linear, layout, scale);
  const isOne = ratio.every((value) => value === ratio[0]);
  const dims = isOne ? [1] : [ratio.length, ...linear.weightTensor.dims.slice(2).map(() => 1)];
  const addend = tensorLike(linear.weightTensor.dtype, dims, isOne ? ratio.slice(0, 1) : ratio);
  if (!weight || !addend) return context.skip("folded weights leave the range of their type");
  const add = context.create(
    "Add",
    [first.other, context.constant(`${linear.weight.label}.addend`, addend)],
    {},
    {
      like: first.node,
      types: [first.other.type],
    },
  );
  return context.create(
    "Conv",
    [add.output, context.constant(linear.weight.label, weight), ...conv.inputs.slice(2)],
    conv.attributes,
    { like: conv },
  );
}
