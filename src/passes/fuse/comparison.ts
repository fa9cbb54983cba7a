/** Choices between two values by comparing a third with a bound: Where(Less(x, bound), ...), however it is written. */
import type { Node, Value } from "../../ir/index.js";
import { producerOf } from "../../rewrite/match.js";

export interface Choice {
  readonly x: Value;
  readonly bound: Value;
  /** Where x is below the bound, and where it is above. */
  readonly below: Value;
  readonly above: Value;
  /** Which of the two is taken where x is the bound, and where it is not a number. */
  readonly atBound: "below" | "above";
  readonly atNaN: "below" | "above";
}

/** The choice that a Where makes, seen from either side of its comparison. */
export function choicesOf(where: Node): Choice[] {
  const [condition, onTrue, onFalse] = where.inputs;
  if (!onTrue || !onFalse) return [];
  for (const op of ["Less", "LessOrEqual", "Greater", "GreaterOrEqual"]) {
    const comparison = producerOf(condition, op, where.graph);
    const [a, b] = comparison?.inputs ?? [];
    if (!a || !b) continue;
    const isLess = op.startsWith("Less");
    const holdsAtBound = op.endsWith("OrEqual");
    const seenFrom = (x: Value, bound: Value, trueIsBelow: boolean): Choice => ({
      x,
      bound,
      below: trueIsBelow ? onTrue : onFalse,
      above: trueIsBelow ? onFalse : onTrue,
      atBound: trueIsBelow === holdsAtBound ? "below" : "above",
      // A comparison with something that is not a number does not hold.
      atNaN: trueIsBelow ? "above" : "below",
    });
    return [seenFrom(a, b, isLess), seenFrom(b, a, !isLess)];
  }
  return [];
}
