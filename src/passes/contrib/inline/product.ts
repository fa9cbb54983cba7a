/**
 *   com.microsoft::FusedMatMul<alpha, transA, transB>(a, b)   =>  alpha * MatMul(Transpose(a), Transpose(b))
 */
import { attr, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";
import { productOf } from "../fused-product.js";

export const inlineRuntimeProduct = defineRewrite({
  name: "inline-runtime-product",
  summary: "Write ONNX Runtime's FusedMatMul as Transpose, MatMul and Mul",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::FusedMatMul`],
  minOpset: 7,
  rewrite(root, { create, constant, skip }) {
    const product = productOf(root);
    if (product?.operands.every(({ dtype }) => dtype === "f32") !== true) return null;
    const { operands, axes, alpha } = product;
    if (axes.some(({ outer }) => outer)) return skip("its batch is no leading axis");
    const isTurned = axes.some(({ swapped }) => swapped);
    const ranks = operands.map(({ shape }) => shape?.length ?? 0);
    // Of a line there is nothing to turn, and beside one the kernel turns nothing else.
    if (isTurned && ranks.some((rank) => rank < 2))
      return skip("it turns what is a line, or of a rank that is not known");
    const [a, b] = operands.map((operand, i): Value => {
      const perm = attr.ints(lastTwoSwapped(ranks[i]!));
      return axes[i]!.swapped ? create("Transpose", [operand], { perm }).output : operand;
    });
    const result = create("MatMul", [a!, b!]);
    return alpha === 1 ? result : create("Mul", [result.output, constant("alpha", Tensor.scalar("f32", alpha))]);
  },
});

const lastTwoSwapped = (rank: number): readonly number[] =>
  Array.from({ length: rank }, (_, axis) => (axis < rank - 2 ? axis : 2 * rank - 3 - axis));
