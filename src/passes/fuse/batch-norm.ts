/**
 * BatchNormalization(Conv(x, W, b))  =>  Conv(x, W', b')
 *
 * and the same for ConvTranspose, Gemm, and MatMul of matrices, which becomes a Gemm.
 * channel-affine.ts has the equations.
 */
import type { Node } from "../../ir/index.js";
import { type Answer, defineRewrite, type Rewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { affineOfBatchNorm, foldAffine } from "./channel-affine.js";
import { linearOf } from "./linear.js";

const fuseBatchNormInto = (op: string, name: string): Rewrite =>
  defineRewrite({
    name,
    summary: `Fold BatchNormalization into the ${op} that feeds it`,
    numerics: "rounding",
    roots: ["BatchNormalization"],
    rewrite: (norm, context) => rewrite(norm, op, context),
  });

export const fuseConvBatchNorm = fuseBatchNormInto("Conv", "fuse-conv-batch-norm");
export const fuseConvTransposeBatchNorm = fuseBatchNormInto("ConvTranspose", "fuse-conv-transpose-batch-norm");
export const fuseGemmBatchNorm = fuseBatchNormInto("Gemm", "fuse-gemm-batch-norm");
export const fuseMatMulBatchNorm = fuseBatchNormInto("MatMul", "fuse-matmul-batch-norm");

function rewrite(norm: Node, op: string, context: RewriteContext): Answer {
  const { skip, opset } = context;
  const producer = soleProducer(norm.inputs[0], op);
  if (!producer) return null;
  const linear = linearOf(producer);
  if (typeof linear === "string") return skip(linear);
  if (op === "MatMul" && linear.outputRank !== 2)
    return skip("only a MatMul of matrices has its columns on the channel axis");
  if (op === "MatMul" && opset < 7) return skip("Gemm broadcasts its bias from opset 7 on");
  const affine = affineOfBatchNorm(norm, opset, linear.channels);
  return typeof affine === "string" ? skip(affine) : foldAffine(linear, affine, context);
}
