/** What a Gemm does beside multiplying by its second input and adding its third, and where products have their channels. */
import type { Node } from "../ir/index.js";

/** Whether its weights are stored as [n, k]; false of other nodes. */
export const isTurnedGemm = (node: Node): boolean => node.is("Gemm") && node.int("transB", 0) !== 0;

/** Why a Gemm is more than `a * b + c` with `b` as it is or turned; null where it is just that. */
export function whyNotPlainGemm(node: Node): string | null {
  if (node.int("transA", 0) !== 0) return "Gemm with transA";
  if (node.float("alpha", 1) !== 1) return "Gemm with alpha other than 1";
  return node.inputs[2] && node.float("beta", 1) !== 1 ? "Gemm with beta other than 1" : null;
}

/** Axis that makes channels: of the weights of a Conv, [M, ...], or of the matrix of a Gemm or MatMul. Of nothing else. */
export const channelAxis = (node: Node): 0 | 1 => (node.is("Conv") || isTurnedGemm(node) ? 0 : 1);
