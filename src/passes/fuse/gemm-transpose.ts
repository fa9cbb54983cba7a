/**
 *   Gemm<transA, transB>(Transpose(a), b, c)  =>  Gemm<not transA, transB>(a, b, c)     likewise b
 *   MatMul(Transpose(a), b)                   =>  Gemm<transA=1>(a, b)                  matrices only
 *
 * Gemm reads either layout equally fast, so the copy is saved.
 */
import { attr, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { hasRank, soleProducer } from "../../rewrite/match.js";

export const fuseGemmTranspose = defineRewrite({
  name: "fuse-gemm-transpose",
  summary: "Let Gemm read a matrix transposed in place of a Transpose",
  numerics: "rounding",
  roots: ["Gemm", "MatMul"],
  // Gemm had to have an addend before.
  minOpset: 11,
  rewrite(root, { create, skip }) {
    const [a, b, c] = root.inputs;
    if (!a || !b) return null;
    const [first, second] = [untransposed(a), untransposed(b)];
    if (!first && !second) return null;
    if (root.op === "MatMul") {
      // A Transpose without a permutation reverses vectors and stacks of matrices too.
      if (!hasRank(a, 2) || !hasRank(b, 2)) return skip("Gemm multiplies matrices only");
      const dtype = a.dtype ?? b.dtype;
      if (dtype !== "f32" && dtype !== "f16" && dtype !== "f64") return skip("Gemm is for floats");
    }
    const turned = (name: string, isTurned: boolean) => attr.int((root.int(name, 0) !== 0) !== isTurned ? 1 : 0);
    const others = [...root.attributes].filter(([name]) => name !== "transA" && name !== "transB");
    const inputs = [first ?? a, second ?? b, ...(c ? [c] : [])];
    const flags = [["transA", turned("transA", !!first)] as const, ["transB", turned("transB", !!second)] as const];
    return create("Gemm", inputs, [...others, ...flags.filter(([, flag]) => flag.type === "int" && flag.value !== 0n)]);
  },
});

/** What a Transpose of a matrix reads, when nobody else wants its result. */
function untransposed(value: Value): Value | null {
  const transpose = soleProducer(value, "Transpose");
  const source = transpose?.inputs[0];
  if (!transpose || !source || !(hasRank(source, 2) || hasRank(value, 2))) return null;
  return (transpose.ints("perm") ?? [1, 0]).join() === "1,0" ? source : null;
}
