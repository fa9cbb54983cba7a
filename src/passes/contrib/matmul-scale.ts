/**
 *   MatMul(a * c, b), MatMul(a, b) / c, ...  =>  com.microsoft::FusedMatMul<alpha=c>(a, b)
 *
 * for a number c, on either operand or on the result: attention scores are scaled this way.
 * f32 only: in float16 the products might overflow before alpha makes them small.
 */
import type { Node, Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { scalarBeside, soleProducer } from "../../rewrite/match.js";
import { createProduct, productOf, productOps, soleProduct } from "./fused-product.js";

export const fuseMatMulScale = defineRewrite({
  name: "fuse-matmul-scale",
  summary: "Let MatMul multiply by a number in place of a Mul or Div before or after it",
  numerics: "rounding",
  roots: [...productOps, "Mul", "Div"],
  minOpset: 7,
  rewrite: (root, context) =>
    root.is("Mul") || root.is("Div") ? fromResult(root, context) : fromOperands(root, context),
});

function fromResult(root: Node, context: RewriteContext): Answer {
  const scale = scaleOf(root);
  const product = scale && soleProduct(scale.input);
  if (!product) return null;
  const alpha = product.alpha * scale.factor;
  return isSafe(alpha, scale.input) ? createProduct(context, { ...product, alpha }) : context.skip(UNSAFE);
}

function fromOperands(root: Node, context: RewriteContext): Answer {
  const product = productOf(root);
  if (!product) return null;
  const scales = product.operands.map((operand) => {
    const node = soleProducer(operand, "Mul") ?? soleProducer(operand, "Div");
    return node && scaleOf(node);
  });
  const alpha = scales.reduce((sum, scale) => sum * (scale?.factor ?? 1), product.alpha);
  if (scales.every((scale) => scale === null)) return null;
  if (!isSafe(alpha, product.operands[0])) return context.skip(UNSAFE);
  const [a, b] = product.operands.map((operand, i) => scales[i]?.input ?? operand) as [Value, Value];
  return createProduct(context, { ...product, operands: [a, b], alpha });
}

/** A Mul or Div by a number as what it multiplies, and by how much. */
function scaleOf(node: Node): { input: Value; factor: number } | null {
  const [a, b] = node.inputs;
  const divisor = scalarBeside(b, a);
  if (a && !a.constant && divisor !== null) return { input: a, factor: node.is("Div") ? 1 / divisor : divisor };
  const factor = node.is("Mul") ? scalarBeside(a, b) : null;
  return b && !b.constant && factor !== null ? { input: b, factor } : null;
}

const UNSAFE = "scaling at another place might overflow, or is not in f32";
/** Far from the ends of float32, so that the order of multiplications hardly matters. */
const isSafe = (alpha: number, value: Value): boolean =>
  value.dtype === "f32" && Math.abs(alpha) > 1e-6 && Math.abs(alpha) < 1e6;
