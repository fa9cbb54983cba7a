/**
 * Conditions as exporters spell them:
 *
 *   Where(Not(c), a, b)              =>  Where(c, b, a)
 *   Where(c, a, a), Where(true, a, b)  =>  a
 *   Equal(Cast(c: bool), 0 or 1)     =>  Not(c) or c
 *   Not(Less(i, j)) of integers      =>  GreaterOrEqual(i, j)
 *   Or(Less(x, z), Equal(x, z))      =>  LessOrEqual(x, z)
 *   And(c, true), Or(c, false), Xor(c, false)  =>  c
 *   And(c, false)  =>  false          Or(c, true)  =>  true
 */
import type { Node, Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import {
  broadcastsTo,
  constantScalar,
  equalsElementwise,
  hasSameShape,
  producerOf,
  soleProducer,
} from "../../rewrite/match.js";

export const fuseCondition = defineRewrite({
  name: "fuse-condition",
  summary: "Take the detours out of conditions: Not before Where, booleans compared as numbers, and And with true",
  numerics: "exact",
  roots: ["Where", "Equal", "Not", "And", "Or", "Xor"],
  rewrite(root, context) {
    switch (root.op) {
      case "Where":
        return choice(root, context);
      case "Equal":
        return compared(root, context);
      case "Not":
        return reversed(root, context);
      default:
        return neutral(root) ?? (root.op === "Or" ? orEqual(root, context) : null);
    }
  },
});

function choice(root: Node, { create }: RewriteContext): Answer {
  const [condition, onTrue, onFalse] = root.inputs;
  if (!condition || !onTrue || !onFalse) return null;
  if (onTrue === onFalse && broadcastsTo(condition, onTrue)) return onTrue;
  for (const [truth, chosen] of [
    [1, onTrue],
    [0, onFalse],
  ] as const) {
    if (isEverywhere(condition, truth) && hasSameShape(chosen, root.output)) return chosen;
  }
  const inner = soleProducer(condition, "Not")?.inputs[0];
  return inner ? create("Where", [inner, onFalse, onTrue]) : null;
}

/** A boolean that was made a number only to be compared with one. */
function compared(root: Node, { create }: RewriteContext): Answer {
  const [a, b] = root.inputs;
  if (!a || !b || root.attributes.has("axis")) return null;
  for (const [value, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const truth = producerOf(value, "Cast", root.graph)?.inputs[0];
    const number = constantScalar(other);
    if (truth?.dtype !== "bool" || (number !== 0 && number !== 1) || !broadcastsTo(other, truth)) continue;
    return number === 1 ? truth : create("Not", [truth]);
  }
  return null;
}

/** Since opset 12; below that the comparisons with "or equal" are missing. */
const opposite: Readonly<Record<string, string>> = {
  Greater: "LessOrEqual",
  GreaterOrEqual: "Less",
  Less: "GreaterOrEqual",
  LessOrEqual: "Greater",
};

const integers = new Set(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]);

/** Of numbers that are always comparable: a comparison with NaN does not hold, nor does its opposite. */
function reversed(root: Node, { create, opset }: RewriteContext): Answer {
  const op = root.inputs[0]?.producer?.op ?? "";
  const comparison = Object.hasOwn(opposite, op) ? soleProducer(root.inputs[0], op) : null;
  if (!comparison || comparison.attributes.size > 0 || opset < 16) return null;
  if (!integers.has(comparison.inputs[0]?.dtype ?? "")) return null;
  return create(opposite[op]!, comparison.inputs);
}

/** Of numbers that are not comparable, neither of the three holds. */
function orEqual(root: Node, { create, opset }: RewriteContext): Answer {
  // Comparisons with "or equal" take numbers of every type since then.
  if (opset < 16) return null;
  const [a, b] = root.inputs;
  for (const [first, second] of [
    [a, b],
    [b, a],
  ]) {
    const strict = soleProducer(first, "Less") ?? soleProducer(first, "Greater");
    const equal = soleProducer(second, "Equal");
    const [x, z] = strict?.inputs ?? [];
    if (!strict || !x || !z || !equal || strict.attributes.size + equal.attributes.size > 0) continue;
    const [one, other] = equal.inputs;
    if ((one === x && other === z) || (one === z && other === x)) return create(`${strict.op}OrEqual`, [x, z]);
  }
  return null;
}

function neutral(root: Node): Value | null {
  const [a, b] = root.inputs;
  if (!a || !b || root.attributes.has("axis")) return null;
  const wanted = root.op === "And" ? 1 : 0;
  for (const [constant, other] of [
    [b, a],
    [a, b],
  ] as const) {
    if (isEverywhere(constant, wanted) && broadcastsTo(constant, other)) return other;
    const decides = root.op !== "Xor" && isEverywhere(constant, 1 - wanted);
    if (decides && hasSameShape(constant, root.output)) return constant;
  }
  return null;
}

/** Whether a constant is all true or all false; bounded, so that nobody expands a weight by mistake. */
const isEverywhere = (value: Value, truth: number): boolean =>
  !!value.constant && value.constant.elementCount <= 65_536 && equalsElementwise(value, truth);
