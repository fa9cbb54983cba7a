/**
 * MatMul(a * c, b / d)  =>  MatMul(a * (c / d), b)
 *
 * for numbers c and d: exporters of attention multiply queries and keys by the square root of
 * the scale. The one product that is left goes to the operand with fewer elements. Only
 * where both factors are moderate, so that no product leaves the range that it had.
 */
import { type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown, soleProducer } from "../../rewrite/match.js";
import { type Line, lineOfNode } from "../fuse/scalar-algebra.js";

/** Factors between 1 / LIMIT and LIMIT. */
const LIMIT = 2 ** 20;

export const fuseMatMulFactors = defineRewrite({
  name: "fuse-matmul-factors",
  summary: "Multiply one operand of a MatMul by a number instead of both",
  numerics: "rounding",
  roots: ["MatMul"],
  minOpset: 7,
  rewrite(root, { create, constant }) {
    const [a, b] = root.inputs;
    const [left, right] = [scaled(a), scaled(b)];
    if (!a || !b || !left || !right || a === b) return null;
    if (left.base.dtype !== "f32" || !isModerate(left.scale) || !isModerate(right.scale)) return null;
    const scale = left.scale * right.scale;
    const product = (base: Value, like: Value): Value =>
      create("Mul", [base, constant("scale", Tensor.f32([], [scale]))], {}, { like: like.producer! }).output;
    const isRightSmaller = sizeOf(b) < sizeOf(a);
    const operands = isRightSmaller ? [left.base, product(right.base, b)] : [product(left.base, a), right.base];
    return create("MatMul", operands, root.attributes);
  },
});

/** scale * base that nobody else reads. */
function scaled(value: Value | null | undefined): Line | null {
  const node: Node | null = soleProducer(value, "Mul") ?? soleProducer(value, "Div") ?? soleProducer(value, "Neg");
  const line = node && lineOfNode(node);
  return line?.offset === 0 ? line : null;
}

const isModerate = (scale: number): boolean => Math.abs(scale) <= LIMIT && Math.abs(scale) >= 1 / LIMIT;

/** Elements, those of unknown sizes left out; unknown ranks last. */
const sizeOf = (value: Value): number =>
  value.shape?.reduce<number>((product, dim) => product * (isKnown(dim) ? dim : 1), 1) ?? Number.POSITIVE_INFINITY;
