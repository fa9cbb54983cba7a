/**
 * Conv(f(x * s + t), W, b)  =>  Conv(f(x), W', b')     W'[m, c] = W[m, c] * s'[c]
 *                                                      b'[m] = b[m] + sum over c of W[m, c] * t'[c]
 *
 * for Mul, Div, Add, Sub by a constant, Neg and BatchNormalization in front of a Conv,
 * ConvTranspose, Gemm or MatMul, with operators between them that the map passes
 * (passage.ts): a Transpose, a Flatten, an average. A Conv that pads takes no addend. A
 * MatMul of more than two axes has no bias: its addend goes on to the Add behind it.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { splitConstant } from "../../rewrite/match.js";
import { arithmeticOps, withWeights } from "../fuse/channel-affine.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { biasOfShifted, doesNotPad, type InputLayout, inputLayoutOf, weightOfScaled } from "../fuse/input-affine.js";
import { type Linear, linearOf } from "../fuse/linear.js";
import { type Affine, type AffineNode, affineOf } from "./affine.js";
import { vectorAlong } from "./grid.js";
import { type Passage, passageOf } from "./passage.js";

const FARTHEST = 8;

export const fuseArithmeticDown = defineRewrite({
  name: "fuse-arithmetic-down",
  summary: "Fold a constant factor or addend, or a BatchNormalization, into the weights that read it further down",
  numerics: "rounding",
  roots: ["Conv", "ConvTranspose", "Gemm", "MatMul"],
  minOpset: 7,
  rewrite(root, context) {
    const way = arithmeticAbove(root.inputs[0], context.opset);
    if (!way) return null;
    if (typeof way === "string") return context.skip(way);
    const linear = linearOf(root);
    if (typeof linear === "string") return root.inputs[1]?.constant ? context.skip(linear) : null;
    const layout = inputLayoutOf(linear);
    return layout && fold(linear, layout, way, context);
  },
});

interface Way {
  readonly arithmetic: Node;
  readonly source: AffineNode;
  /** What lies between, nearest to the linear node first. */
  readonly between: readonly { readonly node: Node; readonly passage: Passage }[];
}

/** The nearest constant arithmetic above a value that nobody else reads. */
function arithmeticAbove(value: Value | null | undefined, opset: number): Way | string | null {
  const between: { node: Node; passage: Passage }[] = [];
  let at = value;
  while (at && between.length < FARTHEST) {
    const node = soleReader(at) && at.producer?.graph === at.graph ? at.producer : null;
    if (!node) return null;
    const source = affineOf(node, opset);
    if (typeof source === "string") return source;
    if (source) return source.x.constant ? null : { arithmetic: node, source, between };
    const passage = passageOf(node);
    if (!passage) return null;
    between.push({ node, passage });
    at = node.inputs[0];
  }
  return null;
}

/** The map as the linear node sees it; a reason, or null, when it does not get there. */
function carried({ source, between }: Way): Affine | string | null {
  let { scale, shift } = source.affine;
  for (const { node, passage } of [...between].reverse()) {
    if (shift && !passage.takesShift) return `an addend does not pass ${node.op}`;
    if (passage.needsPositive && scale && !scale.data.every((factor) => factor > 0)) {
      return `a factor that is not above zero does not pass ${node.op}`;
    }
    const moved = { scale: scale && passage.move(scale, "forth"), shift: shift && passage.move(shift, "forth") };
    if ((scale && !moved.scale) || (shift && !moved.shift)) return null;
    ({ scale, shift } = moved);
  }
  return { scale, shift };
}

function fold(linear: Linear, layout: InputLayout, way: Way, context: RewriteContext): Answer {
  const { node } = linear;
  const affine = carried(way);
  if (affine === null || typeof affine === "string") return affine === null ? null : context.skip(affine);
  const rank = layout.outputRank ?? (affine.scale ?? affine.shift)!.dims.length;
  const along = (part: Affine["scale"]): Float64Array | null =>
    part && vectorAlong(part, rank + layout.channelAxis, layout.channels);
  const [scale, shift] = [along(affine.scale), along(affine.shift)];
  if ((affine.scale && !scale) || (affine.shift && !shift)) {
    return context.skip(`the constant is not one number per input channel of the ${node.op}`);
  }
  if (scale && linear.weight.useCount > 1) return context.skip("other nodes read the weight");
  // What fuse-mul-add-conv sees, and has words for.
  const isTold = way.between.length === 0 && node.op === "Conv" && arithmeticOps.some((op) => way.arithmetic.is(op));
  if (shift && (node.op === "ConvTranspose" || (node.op === "Conv" && !doesNotPad(linear)))) {
    return isTold ? null : context.skip(`the ${node.op} pads, and the border would lack the addend`);
  }
  const goesOn = shift !== null && node.op === "MatMul" && rank !== 2;
  if (goesOn && !addsConstant(node.output)) return null;

  const weight = scale ? weightOfScaled(linear, layout, scale) : linear.weightTensor;
  const bias = shift
    ? biasOfShifted(linear, layout, shift)
    : tensorLike(linear.weightTensor.dtype, [linear.channels], linear.bias);
  if (!weight || !bias) return context.skip("folded weights leave the range of their type");
  const x = rebuild(way, context);
  const hasBias = shift !== null || linear.bias.some((value) => value !== 0);
  if (!goesOn) return withWeights(linear, x, { weight, bias: hasBias ? bias : null }, context);
  const product = withWeights(linear, x, { weight, bias: null }, context);
  const addend = context.constant(linear.biasLabel, bias);
  return context.create("Add", [product.output, addend], {}, { types: [node.output.type] });
}

/** What lies between, of the input of the arithmetic. */
function rebuild({ source, between }: Way, { create }: RewriteContext): Value {
  let x = source.x;
  for (const { node } of [...between].reverse()) {
    const { label, type } = node.output;
    const inputs = [x, ...node.inputs.slice(1)];
    x = create(node.op, inputs, node.attributes, { like: node, labels: [label], types: [type] }).output;
  }
  return x;
}

function addsConstant(value: Value): boolean {
  const reader = soleReader(value);
  return !!reader?.is("Add") && splitConstant(reader) !== null;
}
