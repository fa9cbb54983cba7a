/**
 *   MatMul(Transpose(a), b)  =>  com.microsoft::FusedMatMul<transA=1>(a, b)
 *
 * The kernel reads an operand along other axes at no cost: the last two exchanged
 * (transA, transB), the first one moved inwards past the batch (transBatchA, transBatchB),
 * or both. Either operand, f32 only. A Transpose that others read stays for them, so
 * nothing would be gained: all its readers must be products.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isSameDim, producerOf } from "../../rewrite/match.js";
import { createProduct, type OperandAxes, type Product, plainAxes, productOf, productOps } from "./fused-product.js";

export const fuseMatMulTranspose = defineRewrite({
  name: "fuse-matmul-transpose",
  summary: "Let MatMul read an operand along exchanged axes in place of a Transpose",
  numerics: "rounding",
  roots: productOps,
  rewrite(root, context) {
    const product = productOf(root);
    if (!product) return null;
    const { operands, axes } = product;
    let reason: string | null = null;
    for (const side of [0, 1] as const) {
      const transpose = producerOf(operands[side], "Transpose", root.graph);
      const source = transpose?.inputs[0];
      if (!transpose || !source) continue;
      const found = axesOf(transpose, source);
      if (!found) reason ??= "the Transpose moves other axes than FusedMatMul can";
      else if (axes[side].swapped || axes[side].outer) reason ??= "the operand is read along other axes already";
      else if (!isReadByProductsOnly(operands[side])) reason ??= "the Transpose has other readers";
      else if (found.outer && !haveSameBatch(product)) reason ??= "the batches of the operands may differ";
      else if (source.dtype !== "f32") reason ??= "FusedMatMul computes in f32 only";
      else return createProduct(context, replaced(product, side, source, found));
    }
    return reason === null ? null : context.skip(reason);
  },
});

/** What a Transpose does in the words of FusedMatMul. */
function axesOf(transpose: Node, source: Value): OperandAxes | null {
  const rank = source.shape?.length;
  const order = transpose.ints("perm") ?? (rank === undefined ? null : [...Array(rank).keys()].reverse());
  if (!order || order.length < 2 || (rank !== undefined && rank !== order.length)) return null;
  const all = [...order.keys()];
  const [row, column] = [all.length - 2, all.length - 1];
  const forms: readonly (readonly [OperandAxes, readonly number[]])[] = [
    [{ ...plainAxes, swapped: true }, [...all.slice(0, -2), column, row]],
    [{ ...plainAxes, outer: true }, [...all.slice(1, -1), 0, column]],
    [{ swapped: true, outer: true }, [...all.slice(1), 0]],
  ];
  return forms.find(([, form]) => form.every((axis, i) => axis === order[i]))?.[0] ?? null;
}

function isReadByProductsOnly(value: Value): boolean {
  return value.uses.every((use) => {
    if (use.kind === "output" || use.node.graph !== value.graph) return false;
    const product = productOf(use.node);
    const axes = product?.axes[use.index as 0 | 1];
    return axes !== undefined && !axes.swapped && !axes.outer;
  });
}

/** Whether both operands have the same axes before the last two. */
function haveSameBatch({ operands: [a, b] }: Product): boolean {
  if (!a.shape || a.shape.length !== b.shape?.length) return false;
  return a.shape.slice(0, -2).every((dim, i) => isSameDim(dim, b.shape![i]));
}

function replaced(product: Product, side: 0 | 1, operand: Value, axes: OperandAxes): Product {
  const [other, otherAxes] = [product.operands[1 - side]!, product.axes[1 - side]!];
  return side === 0
    ? { ...product, operands: [operand, other], axes: [axes, otherAxes] }
    : { ...product, operands: [other, operand], axes: [otherAxes, axes] };
}
