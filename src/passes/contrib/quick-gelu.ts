/**
 *   x * Sigmoid(alpha * x)  =>  com.microsoft::QuickGelu<alpha>(x)
 *
 * alpha is 1 where nothing multiplies: SiLU, also called Swish. f32 only.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { scalarBeside, soleProducer } from "../../rewrite/match.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseQuickGelu = defineRewrite({
  name: "fuse-quick-gelu",
  summary: "Turn x * Sigmoid(alpha * x) into QuickGelu",
  numerics: "rounding",
  roots: ["Mul"],
  minOpset: 7,
  rewrite(root, { create, skip }) {
    for (const index of [0, 1]) {
      const gate = soleProducer(root.inputs[index], "Sigmoid");
      const x = root.inputs[1 - index];
      const alpha = gate && x ? alphaOf(gate, x) : null;
      if (!x || alpha === null) continue;
      if (x.dtype !== "f32") return skip("QuickGelu computes in f32 only");
      return create("QuickGelu", [x], { alpha: attr.float(alpha) }, { domain: RUNTIME_DOMAIN });
    }
    return null;
  },
});

/** The number by which a Sigmoid multiplies x; null when it reads something else. */
function alphaOf(gate: Node, x: Value): number | null {
  if (gate.inputs[0] === x) return 1;
  const product = soleProducer(gate.inputs[0], "Mul");
  if (!product) return null;
  const [a, b] = product.inputs;
  if (a === x) return scalarBeside(b, x);
  return b === x ? scalarBeside(a, x) : null;
}
