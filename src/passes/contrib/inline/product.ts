/**
 *   com.microsoft::FusedMatMul<alpha, transA, transB>(a, b)   =>  alpha * MatMul(Transpose(a), Transpose(b))
 */
import { attr, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeProduct = defineRewrite({
  name: "inline-runtime-product",
  summary: "Write ONNX Runtime's FusedMatMul as Transpose, MatMul and Mul",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::FusedMatMul`, `${RUNTIME_DOMAIN}::TransposeMatMul`],
  minOpset: 7,
  rewrite(root, { create, constant, skip }) {
    const [a, b] = root.inputs;
    if (!a || !b || a.dtype !== "f32") return null;
    if (root.int("transBatchA", 0) !== 0 || root.int("transBatchB", 0) !== 0)
      return skip("its batch is no leading axis");
    const operands: Value[] = [];
    for (const [side, operand] of [
      ["A", a],
      ["B", b],
    ] as const) {
      const isTurned = root.int(`trans${side}`, 0) !== 0;
      const rank = operand.shape?.length;
      if (isTurned && rank === undefined) return skip("the rank of what it turns is not known");
      // Of a line there is nothing to turn.
      operands.push(
        isTurned && rank! > 1 ? create("Transpose", [operand], { perm: lastTwoSwapped(rank!) }).output : operand,
      );
    }
    const product = create("MatMul", operands);
    const alpha = root.float("alpha", 1);
    return alpha === 1 ? product : create("Mul", [product.output, constant("alpha", Tensor.scalar("f32", alpha))]);
  },
});

const lastTwoSwapped = (rank: number) =>
  attr.ints([...Array.from({ length: rank - 2 }, (_, axis) => axis), rank - 1, rank - 2]);
