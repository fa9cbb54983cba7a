/**
 * BatchNormalization(Conv(x, W, b))  =>  Conv(x, W', b')
 *
 * and the same for ConvTranspose, Gemm, and MatMul of matrices, which becomes a Gemm. Of a MatMul of more axes that is normalized
 * as a matrix:
 *
 *   BatchNormalization(Reshape(MatMul(x, W), [-1, C]))  =>  Reshape(Add(MatMul(x, W'), b'), [-1, C])
 *
 * channel-affine.ts has the equations.
 */
import type { Node } from "../../ir/index.js";
import { type Answer, defineRewrite, type Rewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { affineOfBatchNorm, foldAffine, foldedWeights } from "./channel-affine.js";
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
  if (!producer) return op === "MatMul" ? intoViewed(norm, context) : null;
  const linear = linearOf(producer);
  if (typeof linear === "string") return skip(linear);
  if (op === "MatMul" && linear.outputRank !== 2)
    return skip("only a MatMul of matrices has its columns on the channel axis");
  if (op === "MatMul" && opset < 7) return skip("Gemm broadcasts its bias from opset 7 on");
  const affine = affineOfBatchNorm(norm, opset, linear.channels);
  return typeof affine === "string" ? skip(affine) : foldAffine(linear, affine, context);
}

/** Rows of a matrix that are the last axis of a product of more axes. */
function intoViewed(norm: Node, { create, constant, skip, opset }: RewriteContext): Answer {
  const rows = norm.inputs[0];
  const view = soleProducer(rows, "Flatten") ?? soleProducer(rows, "Reshape");
  const product = view && soleProducer(view.inputs[0], "MatMul");
  // Add broadcasts from opset 7 on.
  if (!product || opset < 7) return null;
  const linear = linearOf(product);
  if (typeof linear === "string") return skip(linear);
  const { channels, outputRank, weight, biasLabel } = linear;
  if (outputRank === null || rows!.shape?.length !== 2 || rows!.shape[1] !== channels) return null;
  const affine = affineOfBatchNorm(norm, opset, channels);
  const folded = typeof affine === "string" ? affine : foldedWeights(linear, affine);
  if (typeof folded === "string") return skip(folded);
  const { type } = product.output;
  const inputs = [product.inputs[0]!, constant(weight.label, folded.weight)];
  const scaled = create("MatMul", inputs, {}, { like: product, types: [type] }).output;
  const moved = folded.bias
    ? create("Add", [scaled, constant(biasLabel, folded.bias)], {}, { types: [type] }).output
    : scaled;
  return create(view.op, [moved, ...view.inputs.slice(1)], view.attributes, { like: view, types: [rows!.type] });
}
