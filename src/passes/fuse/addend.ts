/** What fused operators may add besides their main input. */
import type { Node, Value } from "../../ir/index.js";
import { isSameDim } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import type { SizeFacts } from "../fold/size-rules.js";

/** The inputs of an Add as a tensor and a vector along its last axis, [n] beside [..., n]; null when they are none. */
export function splitBias(add: Node, facts: SizeFacts): { readonly x: Value; readonly bias: Value } | null {
  const [a, b] = add.inputs;
  if (!a || !b || add.inputs.length !== 2) return null;
  if (isBiasOf(b, a, facts)) return { x: a, bias: b };
  return isBiasOf(a, b, facts) ? { x: b, bias: a } : null;
}

function isBiasOf(bias: Value, x: Value, facts: SizeFacts): boolean {
  return (facts.shapeOf(x)?.length ?? 0) > 1 && isAlongLastAxis(bias, x, facts);
}

/** Whether a tensor is a vector of one number per element of the last axis of x. */
const isAlongLastAxis = (vector: Value, x: Value, facts: SizeFacts): boolean =>
  facts.shapeOf(vector)?.length === 1 && haveSameTail(vector, x, 1, facts);

/** Whether two values have the same shape in every run. */
export function areAlike(a: Value, b: Value, facts: SizeFacts): boolean {
  const rank = facts.shapeOf(a)?.length;
  return rank !== undefined && rank === facts.shapeOf(b)?.length && haveSameTail(a, b, rank, facts);
}

/** Whether the last `count` axes are of the same sizes, by what is declared or by what can be reckoned. */
function haveSameTail(a: Value, b: Value, count: number, { shapeOf }: SizeFacts): boolean {
  return Array.from({ length: count }, (_, i) => -1 - i).every(
    (axis) => areSame(shapeOf(a)?.at(axis), shapeOf(b)?.at(axis)) || isSameDim(a.shape?.at(axis), b.shape?.at(axis)),
  );
}
