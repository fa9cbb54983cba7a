import type { Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { hasRank, isSameDim, soleProducer } from "../../rewrite/match.js";

/**
 * Add(MatMul(a, b), c)  =>  Gemm(a, b, c)
 *
 * a is [M, K], b is [K, N]; c must broadcast to [M, N] without widening it. The other
 * way round too.
 */
export const fuseMatMulAdd = defineRewrite({
  name: "fuse-matmul-add",
  summary: "Turn MatMul and Add of matrices into Gemm",
  numerics: "rounding",
  roots: ["Add"],
  minOpset: 7,
  rewrite(sum, { create, skip }) {
    for (const index of [0, 1]) {
      const product = soleProducer(sum.inputs[index], "MatMul");
      const addend = sum.inputs[1 - index];
      if (!product || !addend) continue;
      const [a, b] = product.inputs;
      if (!a || !b) return null;
      if (!hasRank(a, 2) || !hasRank(b, 2)) return skip(whyNotMatrices(a, b));
      const dtype = a.dtype ?? b.dtype ?? addend.dtype;
      if (dtype !== "f32" && dtype !== "f16" && dtype !== "f64") return skip("Gemm is for floats");
      const result = [a.shape![0], b.shape![1]];
      const small = addend.shape;
      const fits =
        small &&
        small.length <= 2 &&
        small.every((dim, i) => dim === 1 || isSameDim(dim, result[2 - small.length + i]));
      if (!fits) return skip("the addend may widen the result");
      return create("Gemm", [a, b, addend], {}, { like: product });
    }
    return null;
  },
});

function whyNotMatrices(a: Value, b: Value): string {
  if (!a.shape || !b.shape) return "Gemm multiplies matrices, and the rank of a factor is not known";
  return `Gemm multiplies matrices, and a factor has ${(a.shape.length === 2 ? b : a).shape!.length} axes`;
}
