/**
 *   d = x - ReduceMean(x)
 *   y = d / Sqrt(ReduceMean(d^2) + epsilon) * gamma + beta
 *
 * over the last axis  =>  LayerNormalization<axis=-1, epsilon>(x, gamma, beta)
 *
 * Product first, sum second: the two roots are rewritten one after the other.
 */
import { type Attribute, attr, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import {
  constantIntegers,
  isKnown,
  producerOf,
  scalarBeside,
  soleProducer,
  splitConstant,
} from "../../rewrite/match.js";

export const fuseLayerNorm = defineRewrite({
  name: "fuse-layer-norm",
  summary: "Turn a layer normalization written out into LayerNormalization",
  numerics: "rounding",
  roots: ["Mul", "Add"],
  minOpset: 17,
  rewrite: (root, context) => (root.op === "Mul" ? fromProduct(root, context) : fromSum(root, context)),
});

function fromProduct(root: Node, { create, skip }: RewriteContext): Answer {
  const operands = splitConstant(root);
  const quotient = operands && soleProducer(operands.other, "Div");
  const parts = quotient && partsOf(quotient);
  if (!operands || !parts) return null;
  const { x, epsilon } = parts;
  if (!isVectorAlong(operands.constant, x)) return skip("the factor is not one number per element of the last axis");
  if (operands.constant.dtype !== "f32" && operands.constant.dtype !== "f16") return skip("only f32 and f16");
  const attributes = { axis: attr.int(-1), epsilon: attr.float(epsilon) };
  return create("LayerNormalization", [x, operands.constant], attributes);
}

function fromSum(root: Node, { create }: RewriteContext): Answer {
  const operands = splitConstant(root);
  const norm = operands && soleProducer(operands.other, "LayerNormalization");
  if (!operands || !norm || norm.inputs[2] || norm.int("axis", -1) !== -1) return null;
  const gamma = norm.inputs[1];
  if (!gamma?.constant || !isVectorAlong(operands.constant, norm.inputs[0])) return null;
  if (operands.constant.dtype !== gamma.dtype) return null;
  const attributes: ReadonlyMap<string, Attribute> = norm.attributes;
  return create("LayerNormalization", [norm.inputs[0]!, gamma, operands.constant], attributes);
}

/** [n] for a tensor whose last axis is n long, for sure. */
function isVectorAlong(vector: Value, x: Value | null | undefined): boolean {
  const last = x?.shape?.at(-1);
  return vector.shape?.length === 1 && isKnown(last) && vector.shape[0] === last;
}

/** The tensor that is normalized, when a quotient is d / Sqrt(ReduceMean(d^2) + epsilon). */
function partsOf(quotient: Node): { x: Value; epsilon: number } | null {
  const [deviation, spread] = quotient.inputs;
  const root = soleProducer(spread, "Sqrt");
  const sum = root && soleProducer(root.inputs[0], "Add");
  const operands = sum && splitConstant(sum);
  const variance = operands && soleProducer(operands.other, "ReduceMean");
  const difference = producerOf(deviation, "Sub", quotient.graph);
  if (!deviation || !variance || !difference) return null;
  const [x, mean] = difference.inputs;
  const epsilon = scalarBeside(operands.constant, x);
  const square = squareOf(variance.inputs[0], deviation, x);
  const average = soleProducer(mean, "ReduceMean");
  if (!x || epsilon === null || !square || !average || average.inputs[0] !== x) return null;
  const readers = new Set([quotient, square]);
  const isOurs = deviation.uses.every((use) => use.kind === "input" && readers.has(use.node));
  return isOurs && isOverLastAxis(average, x) && isOverLastAxis(variance, x) ? { x, epsilon } : null;
}

/** Pow(d, 2) or d * d, read by nobody else, with d of the rank of x. */
function squareOf(value: Value | null | undefined, d: Value, x: Value | null | undefined): Node | null {
  const power = soleProducer(value, "Pow");
  if (power) return power.inputs[0] === d && scalarBeside(power.inputs[1], x) === 2 ? power : null;
  const product = soleProducer(value, "Mul");
  return product && product.inputs[0] === d && product.inputs[1] === d ? product : null;
}

function isOverLastAxis(mean: Node, x: Value): boolean {
  const axes = mean.inputs[1] ? constantIntegers(mean.inputs[1]) : mean.ints("axes");
  if (axes?.length !== 1 || mean.int("keepdims", 1) !== 1) return false;
  return axes[0] === -1 || (x.shape !== null && axes[0] === x.shape.length - 1);
}
