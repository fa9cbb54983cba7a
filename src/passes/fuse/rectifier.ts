/**
 *   Where(x < 0, a * x, x),  Max(x, a * x)      =>  LeakyRelu<alpha=a>(x)
 *   Relu(x) - a * Relu(-x)                      =>  LeakyRelu<alpha=a>(x)
 *   PRelu(x, a, a, ...)                         =>  LeakyRelu<alpha=a>(x)
 *   Relu(x) - a * Relu(-x), a of several        =>  PRelu(x, a)
 *   Where(x > a, x, 0)                          =>  ThresholdedRelu<alpha=a>(x), Relu(x) when a is 0
 *   Where(x < a, a, x)                          =>  Clip(x, a)
 *   Where(x > b, b, x)                          =>  Clip(x, , b)
 *
 * Not done, since ONNX Runtime's kernels on the CPU take longer than the operators written out: Elu, Selu, Shrink
 * and Softplus. (PRelu is written out again by inline-prelu.ts, in fewer nodes.)
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import {
  broadcastsTo,
  constantScalar,
  hasRank,
  hasSameShape,
  inputOrders,
  producerOf,
  soleProducer,
  splitConstant,
} from "../../rewrite/match.js";
import { choicesOf } from "./comparison.js";
import { floatsOf } from "./linear.js";
import { lineOf, numberBeside } from "./scalar-algebra.js";

export const fuseLeakyRelu = defineRewrite({
  name: "fuse-leaky-relu",
  summary: "Turn a slope below zero, however it is written, into LeakyRelu",
  numerics: "rounding",
  roots: ["Where", "Max", "Add", "Sub", "PRelu"],
  minOpset: 7,
  rewrite(root, context) {
    const found =
      root.op === "Where"
        ? fromChoice(root)
        : root.op === "Max"
          ? fromMaximum(root)
          : root.op === "PRelu"
            ? fromSlopes(root)
            : fromHalves(root);
    if (!found) return null;
    const { x, alpha } = found;
    return x.dtype === "f32"
      ? context.create("LeakyRelu", [x], { alpha: attr.float(alpha) })
      : context.skip("only f32");
  },
});

interface Leaky {
  readonly x: Value;
  readonly alpha: number;
}

/** alpha, when a value is alpha * x. */
function slopeOf(value: Value, x: Value): number | null {
  const { base, scale, offset } = lineOf(value);
  return base === x && offset === 0 && value !== x ? scale : null;
}

function fromChoice(where: Node): Leaky | null {
  for (const { x, bound, below, above } of choicesOf(where)) {
    const alpha = above === x ? slopeOf(below, x) : null;
    if (alpha !== null && numberBeside(bound, x) === 0) return { x, alpha };
  }
  return null;
}

function fromMaximum(root: Node): Leaky | null {
  const [a, b] = root.inputs;
  if (!a || !b || root.inputs.length !== 2) return null;
  for (const [x, scaled] of [
    [a, b],
    [b, a],
  ] as const) {
    const alpha = slopeOf(scaled, x);
    // The larger of the two is x above zero.
    if (alpha !== null && alpha <= 1) return { x, alpha };
  }
  return null;
}

function fromSlopes(root: Node): Leaky | null {
  const [x, slopes] = root.inputs;
  const tensor = slopes?.constant;
  const data = tensor && floatsOf(tensor);
  if (!x || !data || data.length === 0 || tensor.dims.length > (x.shape?.length ?? 0)) return null;
  return data.every((slope) => slope === data[0]) ? { x, alpha: data[0]! } : null;
}

/** The two operands as the upper half and the lower: of a sum either way round. */
function halvesOf(root: Node): readonly (readonly [Value, Value])[] {
  const orders = inputOrders(root);
  return root.op === "Sub" ? orders.slice(0, 1) : orders;
}

/** Relu(x) + k * Relu(-x) */
function fromHalves(root: Node): Leaky | null {
  const sign = root.op === "Sub" ? -1 : 1;
  for (const [first, second] of halvesOf(root)) {
    const x = soleProducer(first, "Relu")?.inputs[0];
    const { base, scale, offset } = lineOf(second);
    const negated = soleProducer(base, "Relu")?.inputs[0];
    if (!x || !negated || offset !== 0) continue;
    const inner = lineOf(negated);
    if (inner.base === x && inner.scale === -1 && inner.offset === 0) return { x, alpha: -sign * scale };
  }
  return null;
}

export const fusePRelu = defineRewrite({
  name: "fuse-prelu",
  summary: "Turn slopes below zero that are written out as two halves into PRelu",
  numerics: "rounding",
  roots: ["Add", "Sub"],
  minOpset: 9,
  rewrite(root, { create, constant }) {
    for (const [first, second] of halvesOf(root)) {
      const x = soleProducer(first, "Relu")?.inputs[0];
      const product = soleProducer(second, "Mul");
      const { constant: factor, other: below } = (product && splitConstant(product)) ?? {};
      const negated = producerOf(soleProducer(below, "Relu")?.inputs[0], "Neg", root.graph);
      if (x?.dtype !== "f32" || !factor || negated?.inputs[0] !== x) continue;
      const factors = factor.constant!.toF32();
      if (!factors?.every(Number.isFinite) || !broadcastsTo(factor, x)) continue;
      const slopes = root.op === "Sub" ? factors : factors.map((each) => -each);
      return create("PRelu", [x, constant(`${factor.label}/slope`, Tensor.f32(factor.constant!.dims, slopes))]);
    }
    return null;
  },
});

export const fuseThresholdedRelu = defineRewrite({
  name: "fuse-thresholded-relu",
  summary: "Turn a choice between a tensor and zero into ThresholdedRelu or Relu",
  numerics: "rounding",
  roots: ["Where"],
  minOpset: 10,
  rewrite(root, { create }) {
    for (const { x, bound, below, above, atBound, atNaN } of choicesOf(root)) {
      const alpha = numberBeside(bound, x);
      if (above !== x || x.dtype !== "f32" || alpha === null || numberBeside(below, x) !== 0) continue;
      if (alpha === 0) return create("Relu", [x]);
      if (atBound === "below" && atNaN === "below") return create("ThresholdedRelu", [x], { alpha: attr.float(alpha) });
    }
    return null;
  },
});

const clippable = new Set(["f32", "i32", "i64"]);

export const fuseWhereClip = defineRewrite({
  name: "fuse-where-clip",
  summary: "Turn a choice between a tensor and its bound into Clip",
  numerics: "rounding",
  roots: ["Where", "Clip"],
  minOpset: 12,
  rewrite(root, context) {
    if (root.op === "Clip") return mergeBounds(root, context);
    for (const { x, bound, below, above } of choicesOf(root)) {
      if (!x.dtype || !clippable.has(x.dtype) || bound.dtype !== x.dtype || !x.shape) continue;
      const scalar = scalarOf(bound, x, context);
      if (!scalar) continue;
      if (isSameBound(below, bound) && above === x) return context.create("Clip", [x, scalar]);
      if (isSameBound(above, bound) && below === x) return context.create("Clip", [x, null, scalar]);
    }
    return null;
  },
});

/** A bound as Clip takes it; null when it is more than one number. */
function scalarOf(bound: Value, x: Value, { constant }: RewriteContext): Value | null {
  if (hasRank(bound, 0)) return bound;
  const tensor = bound.constant;
  const isNumber = tensor?.elementCount === 1 && tensor.dims.length <= x.shape!.length;
  return isNumber ? constant(bound.label, tensor.withDims([])) : null;
}

/** Equal constants may be several values. */
const isSameBound = (value: Value, bound: Value): boolean =>
  value === bound ||
  (constantScalar(value) !== null && constantScalar(value) === constantScalar(bound) && hasSameShape(value, bound));

/** Clip(Clip(x, a), , b)  =>  Clip(x, a, b): the lower bound comes first in Clip as well. */
function mergeBounds(root: Node, { create }: RewriteContext): Answer {
  const [value, min, max] = root.inputs;
  const inner = soleProducer(value, "Clip");
  const [x, low, high] = inner?.inputs ?? [];
  if (!inner || !x || min || !max || !low || high) return null;
  return producerOf(inner.output, "Clip", root.graph) && create("Clip", [x, low, max]);
}
