/**
 *   Pow(Sqrt(x), 2)       =>  x                    x without a sign; likewise a product with itself
 *   Pow(ReduceL2(x), 2)   =>  ReduceSumSquare(x)
 *
 * Powers of spectra, which PyTorch writes as the square of a magnitude.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { scalarBeside } from "../../rewrite/match.js";
import { hasNoSign } from "../fuse/no-sign.js";

export const eliminateSquaredRoot = defineRewrite({
  name: "eliminate-squared-root",
  summary: "Remove the root of what is squared again",
  numerics: "rounding",
  roots: ["Mul", "Pow"],
  rewrite(root, { create }) {
    const base = squaredBy(root);
    const node = base?.producer;
    // Of integers the root is cut to one.
    if (base?.dtype !== "f32" || !node || node.domain !== "" || node.graph !== root.graph) return null;
    if (node.op === "Sqrt") return node.inputs[0] && hasNoSign(node.inputs[0]) ? node.inputs[0] : null;
    const isForThis = base.uses.every((use) => use.kind === "input" && use.node === root);
    if (node.op !== "ReduceL2" || !isForThis) return null;
    return create("ReduceSumSquare", node.inputs, node.attributes, { types: [base.type] });
  },
});

function squaredBy(root: Node): Value | null {
  const [x, y] = root.inputs;
  if (!x || root.attributes.size > 0) return null;
  const isSquare = root.op === "Mul" ? x === y : scalarBeside(y, x) === 2;
  return isSquare ? x : null;
}
