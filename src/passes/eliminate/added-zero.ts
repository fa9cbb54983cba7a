/**
 * x + 0.0  =>  x
 *
 * Where x is -0.0 the sum is 0.0: no other result, but not the same bits, and nothing that divides by it may see
 * it. What is exact is eliminate-no-op-arithmetic's. Exporters write such sums for a GroupNorm without a bias.
 */
import { isFloat, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo, equalsElementwise, inputOrders } from "../../rewrite/match.js";

export const eliminateAddedZero = defineRewrite({
  name: "eliminate-added-zero",
  summary: "Remove the addition of zero to floating-point values, whose zeros may have a sign",
  numerics: "rounding",
  roots: ["Add"],
  rewrite(root, { skip }) {
    if (root.attributes.has("axis")) return null;
    for (const [zero, other] of inputOrders(root)) {
      const tensor = zero.constant;
      if (!tensor || !isFloat(tensor.dtype) || tensor.elementCount > 65_536) continue;
      if (!equalsElementwise(zero, 0) || !broadcastsTo(zero, other)) continue;
      return isDividedBy(root.output) ? skip("something is divided by the sum, and the sign of a zero shows") : other;
    }
    return null;
  },
});

const isDividedBy = (value: Value): boolean =>
  value.uses.some(
    (use) =>
      use.kind === "input" &&
      (use.node.is("Reciprocal") || use.node.is("Pow") || (use.node.is("Div") && use.index === 1)),
  );
