/**
 * Mul(Conv(x, W, b), c)  =>  Conv(x, W * c, b * c)
 * Add(Conv(x, W, b), c)  =>  Conv(x, W, b + c)
 *
 * with c one number, or one per output channel; Div and Sub alike. The same for
 * ConvTranspose and Gemm; MatMul has no bias and takes factors only.
 */
import type { Node } from "../../ir/index.js";
import { type Answer, defineRewrite, type Rewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer, splitConstant } from "../../rewrite/match.js";
import { affineOfArithmetic, arithmeticOps, foldAffine } from "./channel-affine.js";
import { linearOf } from "./linear.js";

const fuseArithmeticInto = (op: string, name: string, roots: readonly string[]): Rewrite =>
  defineRewrite({
    name,
    summary: `Fold ${roots.join(", ")} by a constant into the ${op} that feeds it`,
    numerics: "rounding",
    roots,
    minOpset: 7,
    rewrite: (node, context) => rewrite(node, op, context),
  });

export const fuseConvMulAdd = fuseArithmeticInto("Conv", "fuse-conv-mul-add", arithmeticOps);
export const fuseConvTransposeMulAdd = fuseArithmeticInto(
  "ConvTranspose",
  "fuse-conv-transpose-mul-add",
  arithmeticOps,
);
export const fuseGemmMulAdd = fuseArithmeticInto("Gemm", "fuse-gemm-mul-add", arithmeticOps);
export const fuseMatMulMul = fuseArithmeticInto("MatMul", "fuse-matmul-mul", ["Mul", "Div"]);

function rewrite(node: Node, op: string, context: RewriteContext): Answer {
  const operands = splitConstant(node);
  const producer = operands && soleProducer(operands.other, op);
  if (!producer) return null;
  const linear = linearOf(producer);
  if (typeof linear === "string") return context.skip(linear);
  const affine = affineOfArithmetic(node, linear);
  if (affine === null || typeof affine === "string") return affine === null ? null : context.skip(affine);
  // A second copy of a shared weight costs more than the multiplication.
  if (affine.scale && linear.weight.useCount > 1) return context.skip("other nodes read the weight");
  return foldAffine(linear, affine, context);
}
