/**
 *   Transpose<last two>(MatMul(a: [m,1], Unsqueeze<-2>(p: [..., n])))  =>  Mul(Unsqueeze<-1>(p), a: [1,m])
 *
 * with a Cast on the way of p or without: exporters compute the angles of rotary embeddings
 * as frequencies times positions, and turn the result around. A sum of one product is a
 * product, which broadcasting makes in the order that is wanted.
 */
import { type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, normalizeAxes, soleProducer } from "../../rewrite/match.js";
import { permutationOf } from "../layout/permutation.js";

export const fuseOuterProduct = defineRewrite({
  name: "fuse-outer-product",
  summary: "Multiply a row by a column, which are a constant and a tensor, in the order that is read",
  numerics: "rounding",
  roots: ["Transpose"],
  minOpset: 13,
  rewrite(root, context) {
    const product = exchangesLastTwo(root) ? soleProducer(root.inputs[0], "MatMul") : null;
    const [a, b] = product?.inputs ?? [];
    const column = a?.constant;
    if (!product || !b || !column || column.dims.length < 2 || column.dims.at(-1) !== 1) return null;
    if (a.dtype !== "f32" && a.dtype !== "f64") return null;
    const cast = soleProducer(b, "Cast");
    const row = standing(cast ? cast.inputs[0] : b, context);
    if (!row) return null;
    const factor = cast ? context.create("Cast", [row], cast.attributes, { like: cast }).output : row;
    const dims = [...column.dims.slice(0, -2), 1, column.dims.at(-2)!];
    return context.create("Mul", [factor, context.constant(a.label, column.withDims(dims))], {}, { like: product });
  },
});

function exchangesLastTwo(transpose: Node): boolean {
  const perm = permutationOf(transpose);
  const last = (perm?.length ?? 0) - 1;
  return !!perm && last >= 1 && perm.every((axis, i) => axis === (i === last ? last - 1 : i === last - 1 ? last : i));
}

/** A row of shape [..., 1, n] as [..., n, 1], when an Unsqueeze makes it a row. */
function standing(row: Value | null | undefined, { create, constant }: RewriteContext): Value | null {
  const unsqueeze = soleProducer(row, "Unsqueeze");
  const rank = row?.shape?.length;
  const given = constantIntegers(unsqueeze?.inputs[1]);
  const axes = given && rank !== undefined ? normalizeAxes(given, rank) : null;
  if (!unsqueeze || !axes || rank === undefined || !axes.includes(rank - 2) || axes.includes(rank - 1)) return null;
  const turned = axes.map((axis) => (axis === rank - 2 ? rank - 1 : axis));
  const made = constant("axes", Tensor.i64([turned.length], turned));
  return create("Unsqueeze", [unsqueeze.inputs[0]!, made], {}, { like: unsqueeze }).output;
}
