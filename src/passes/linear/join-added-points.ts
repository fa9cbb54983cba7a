/**
 * Conv(a, V, p) + Conv(b, W, q)  =>  Conv(Concat(a, b), [V W], p + q)      kernels of 1
 *
 * The last Conv of a residual block and that of a shortcut which changes the channels (ResNet-50, RegNet). As integers
 * both results were rounded to 8 bits, written and added by a node of its own; now the sum is rounded once, and no
 * weight is added. Where one has strides, a MaxPool of one element takes what it reads. In float nothing is gained:
 * there the runtime's Conv adds while it writes.
 */
import { type Attribute, attr, type Node } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { hasSameShape, soleProducer } from "../../rewrite/match.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { doesNotPad } from "../fuse/input-affine.js";
import { floatsOf, type Linear, linearOf } from "../fuse/linear.js";

const MOST_ELEMENTS = 1 << 24;

export const joinAddedPoints = defineRewrite({
  name: "join-added-points",
  summary: "Make one integer Conv, of the channels of both, of two with kernels of 1 whose results are added",
  numerics: "rounding",
  roots: ["Add"],
  minOpset: 8,
  rewrite(root, context) {
    const [first, second, ...more] = root.inputs.map((value) => soleProducer(value, "Conv"));
    if (!first || !second || first === second || more.length > 0) return null;
    if (!first.inputs[1]?.constant || !second.inputs[1]?.constant) return null;
    const [a, b] = [linearOf(first), linearOf(second)];
    if (typeof a === "string") return context.skip(a);
    if (typeof b === "string") return context.skip(b);
    if (!isPoint(a) || !isPoint(b) || a.weightTensor.dtype !== "f32" || b.weightTensor.dtype !== "f32") return null;
    if (a.channels !== b.channels || !hasSameShape(first.output, second.output)) {
      return context.skip("the two results may have different shapes");
    }
    if (a.weight.useCount > 1 || b.weight.useCount > 1) return context.skip("other nodes read the weights");
    const elements = a.weightTensor.elementCount + b.weightTensor.elementCount;
    if (elements > MOST_ELEMENTS) return context.skip("the weights are too large to join here");
    return joined(root, a, b, context);
  },
});

/** A kernel of one element in two dimensions that sees no padding, of all channels. */
function isPoint(linear: Linear): boolean {
  const { dims } = linear.weightTensor;
  const isSmall = dims.length === 4 && dims[2] === 1 && dims[3] === 1;
  return isSmall && linear.node.int("group", 1) === 1 && doesNotPad(linear);
}

function joined(root: Node, a: Linear, b: Linear, context: RewriteContext) {
  const { dtype } = a.weightTensor;
  const weight = tensorLike(dtype, [a.channels, depthOf(a) + depthOf(b), 1, 1], sideBySide(a, b));
  const bias = tensorLike(
    dtype,
    [a.channels],
    a.bias.map((value, m) => value + b.bias[m]!),
  );
  if (!weight || !bias) return context.skip("the sum of the biases leaves the range of its type");
  const shape = a.node.output.shape!;
  const read = [a, b].map((linear) => taken(linear, shape, context));
  const both = context.create("Concat", read, { axis: attr.int(1) }, { like: b.node, types: [typeOf(shape, a, b)] });
  const inputs = [both.output, context.constant(a.weight.label, weight), context.constant(a.biasLabel, bias)];
  const attributes: Record<string, Attribute> = { kernel_shape: attr.ints([1, 1]) };
  return context.create("Conv", inputs, attributes, { types: [root.output.type] });
}

const depthOf = ({ weightTensor }: Linear): number => weightTensor.dims[1]!;

type Shape = NonNullable<Node["output"]["shape"]>;

const typeOf = (shape: Shape, ...linears: Linear[]) => {
  const depth = linears.reduce((sum, linear) => sum + depthOf(linear), 0);
  return { dtype: "f32", shape: shape.map((dim, axis) => (axis === 1 ? depth : dim)) } as const;
};

/** The places of its input that a Conv reads. */
function taken(linear: Linear, shape: Shape, { create }: RewriteContext) {
  const { node } = linear;
  const strides = node.ints("strides") ?? [1, 1];
  const x = node.inputs[0]!;
  if (strides.every((stride) => stride === 1)) return x;
  const attributes = { kernel_shape: attr.ints([1, 1]), strides: attr.ints(strides) };
  return create("MaxPool", [x], attributes, { like: node, types: [typeOf(shape, linear)] }).output;
}

/** Of each output, the weights of both. */
function sideBySide(a: Linear, b: Linear): Float32Array {
  const [v, w] = [floatsOf(a.weightTensor)!, floatsOf(b.weightTensor)!];
  const [first, second] = [depthOf(a), depthOf(b)];
  const result = new Float32Array(v.length + w.length);
  for (let m = 0; m < a.channels; m++) {
    const at = m * (first + second);
    result.set(v.subarray(m * first, (m + 1) * first), at);
    result.set(w.subarray(m * second, (m + 1) * second), at + first);
  }
  return result;
}
