import { isFloat, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo, equalsElementwise } from "../../rewrite/match.js";

/**
 * x * 1, x / 1, x - 0, and x + 0 for integers  =>  x
 *
 * x + 0.0 is not exact: it turns -0.0 into 0.0. x + -0.0 is, and x + 0.0 where x is a sum
 * of products, of whose zeros no runtime promises the sign. The neutral constant must
 * not widen the result. Old opsets broadcast by an `axis` attribute; those stay.
 */
export const eliminateNoOpArithmetic = defineRewrite({
  name: "eliminate-no-op-arithmetic",
  summary: "Remove multiplication and division by one and addition and subtraction of zero",
  numerics: "exact",
  roots: ["Add", "Sub", "Mul", "Div"],
  rewrite(root) {
    const [a, b] = root.inputs;
    if (!a || !b || root.attributes.has("axis")) return null;
    if (isNeutral(root, b, a) && broadcastsTo(b, a)) return a;
    const isSymmetric = root.op === "Add" || root.op === "Mul";
    return isSymmetric && isNeutral(root, a, b) && broadcastsTo(a, b) ? b : null;
  },
});

function isNeutral(root: Node, value: Value, other: Value): boolean {
  const tensor = value.constant;
  if (!tensor || tensor.elementCount > 65_536) return false;
  if (root.op === "Mul" || root.op === "Div") return equalsElementwise(value, 1);
  if (root.op !== "Add" || !isFloat(tensor.dtype)) return equalsElementwise(value, 0);
  return equalsElementwise(value, -0) || (isSumOfProducts(other) && equalsElementwise(value, 0));
}

function isSumOfProducts({ producer }: Value): boolean {
  if (producer?.domain !== "") return false;
  if (producer.op === "MatMul") return true;
  // A sum that is 0.0 becomes -0.0 by a factor below zero.
  return (producer.op === "Conv" || producer.op === "Gemm") && !producer.inputs[2] && producer.float("alpha", 1) > 0;
}
