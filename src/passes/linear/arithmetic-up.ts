/**
 * f(x) * s + t  =>  f(x')  where s and t vanish in weights and constants above f
 *
 * for Mul, Div, Add, Sub by a constant, Neg and BatchNormalization, whether or not other
 * operators stand between: absorb.ts says which they pass. What a linear node feeds
 * directly is the work of the fusions of that operator.
 */
import type { Node } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { absorb } from "./absorb.js";
import { affineOf, affineRoots } from "./affine.js";

export const fuseArithmeticUp = defineRewrite({
  name: "fuse-arithmetic-up",
  summary: "Fold a constant factor or addend, or a BatchNormalization, into weights or constants further up",
  numerics: "rounding",
  roots: affineRoots,
  minOpset: 7,
  rewrite(root, context) {
    const own = affineOf(root, context.opset);
    if (own === null || typeof own === "string") return null;
    const producer = own.x.producer;
    if (!producer || own.x.constant) return null;
    const isDirect = ["Conv", "ConvTranspose", "Gemm", "MatMul"].includes(producer.op) && producer.inputs[1]?.constant;
    if (isDirect && root.op !== "Neg") return null;
    if (producer.is("MatMul") && scoresAttention(root)) return null;
    const found = absorb(own.x, own.affine, context);
    if (typeof found === "function") return found();
    return found === null ? null : context.skip(found);
  },
});

/** Runtimes tell attention by the factor in front of its Softmax: there it costs nothing. */
function scoresAttention(scale: Node): boolean {
  const readers = scale.output.uses.flatMap((use) => (use.kind === "input" ? [use.node] : []));
  return readers.some(
    (node) =>
      node.is("Softmax") ||
      ((node.is("Add") || node.is("Where")) &&
        node.output.uses.some((use) => use.kind === "input" && use.node.is("Softmax"))),
  );
}
