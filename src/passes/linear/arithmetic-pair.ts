/**
 * a + -b  =>  a - b           a - -b  =>  a + b         |-a|     =>  |a|
 * a * (1 / b)  =>  a / b      a / (1 / b)  =>  a * b    -(a - b) =>  b - a
 * x ^ 1  =>  x                x ^ 0.5  =>  sqrt(x)      x ^ -1   =>  1 / x
 *
 * One rounding less where there were two. x ^ 2 stays: runtimes have a loop for it, and
 * tell normalizations by it.
 */
import type { Node, Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { scalarBeside, soleProducer } from "../../rewrite/match.js";
import { inverted } from "../fuse/scalar-algebra.js";

export const fuseArithmeticPair = defineRewrite({
  name: "fuse-arithmetic-pair",
  summary: "Write sums with Neg, products with a reciprocal, and plain powers as one operator",
  numerics: "rounding",
  roots: ["Add", "Sub", "Mul", "Div", "Abs", "Neg", "Pow"],
  minOpset: 7,
  rewrite(root, context) {
    const [a, b] = root.inputs;
    if (!a) return null;
    const binary = (op: string, one: Value, other: Value): Node => context.create(op, [one, other]);
    switch (root.op) {
      case "Add": {
        const [left, right] = [negated(a), negated(b)];
        if (right) return binary("Sub", a, right);
        return left && b ? binary("Sub", b, left) : null;
      }
      case "Sub": {
        const right = negated(b);
        return right && binary("Add", a, right);
      }
      case "Mul": {
        const [left, right] = [inverted(a), inverted(b)];
        if (right) return binary("Div", a, right);
        return left && b ? binary("Div", b, left) : null;
      }
      case "Div": {
        const right = inverted(b);
        return right && binary("Mul", a, right);
      }
      case "Abs": {
        const inner = negated(a);
        return inner && context.create("Abs", [inner]);
      }
      case "Neg": {
        const [left, right] = soleProducer(a, "Sub")?.inputs ?? [];
        return left && right ? binary("Sub", right, left) : null;
      }
      default:
        return ofPower(root, context);
    }
  },
});

const negated = (value: Value | null | undefined): Value | null => soleProducer(value, "Neg")?.inputs[0] ?? null;

function ofPower(power: Node, { create }: RewriteContext): Answer {
  const [x, exponent] = power.inputs;
  if (!x || (x.dtype !== "f32" && x.dtype !== "f16" && x.dtype !== "f64")) return null;
  const value = scalarBeside(exponent, x);
  if (value === 1) return x;
  if (value === 0.5) return create("Sqrt", [x]);
  return value === -1 ? create("Reciprocal", [x]) : null;
}
