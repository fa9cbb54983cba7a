/**
 * Transpose(x) -> Cast -> MatMul, by which ONNX Runtime may die while it loads a model (issue 28392 there; seen with 1.24 to 1.32
 * on x86, at level `all`).
 *
 * To multiply by transposed batches it first swaps the Cast and the Transpose, then finds that the operands have other
 * ranks, lets the rest be, and goes on with two nodes that it never settled: its layout of Convs reads what they lack.
 * It does so where the first axis goes behind all others but the columns or the rows of the product:
 *
 *   perm [1, ..., r-2, 0, r-1]  or  [1, ..., r-2, r-1, 0]        r >= 3
 *
 * In half precision the Cast is the runtime's own, on every CPU without a kernel for such products.
 */
import type { Node, Value } from "../../ir/index.js";
import { hasSameShape } from "../../rewrite/match.js";
import { permutationOf } from "../layout/permutation.js";

/** The MatMul that the runtime would try to merge a Transpose with, and give up on; null where there is none. */
export function unequalProductOf(node: Node): Node | null {
  const perm = node.is("Transpose") ? permutationOf(node) : null;
  if (!perm || !movesFirstAxisBack(perm)) return null;
  const values = new Set<Value>([node.output]);
  for (const value of values) {
    for (const use of value.uses) {
      // A product in a body does not see who makes what it captures.
      if (use.kind === "output" || use.node.graph !== node.graph) continue;
      const { node: reader, index } = use;
      if (reader.is("MatMul") && reader.inputs[1 - index]?.shape?.length !== perm.length) return reader;
      if (isPassedOver(reader)) values.add(reader.output);
    }
  }
  return null;
}

function movesFirstAxisBack(perm: readonly number[]): boolean {
  const rank = perm.length;
  return rank >= 3 && perm.slice(0, rank - 2).every((axis, i) => axis === i + 1);
}

/** Nodes that the runtime takes out before it looks, and Casts. */
const isPassedOver = (node: Node): boolean =>
  node.is("Cast") ||
  node.is("Identity") ||
  node.is("Dropout") ||
  (node.is("Reshape") && hasSameShape(node.inputs[0], node.output));
