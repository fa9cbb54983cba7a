/** What fused operators may add besides their main input. */
import type { Node, Value } from "../../ir/index.js";
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
export function isAlongLastAxis(vector: Value, x: Value, { shapeOf }: SizeFacts): boolean {
  const shape = shapeOf(vector);
  return shape?.length === 1 && areSame(shape[0], shapeOf(x)?.at(-1));
}

/** Whether two values have the same shape in every run. */
export function areAlike(a: Value, b: Value, { shapeOf }: SizeFacts): boolean {
  const [one, other] = [shapeOf(a), shapeOf(b)];
  return !!one && one.length === other?.length && one.every((size, axis) => areSame(size, other[axis]));
}
