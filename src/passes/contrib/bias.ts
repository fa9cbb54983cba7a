import type { Node, Value } from "../../ir/index.js";
import { isSameDim } from "../../rewrite/match.js";

/** The inputs of an Add as a tensor and a vector along its last axis, [n] beside [..., n]; null when they are none. */
export function splitBias(add: Node): { readonly x: Value; readonly bias: Value } | null {
  const [a, b] = add.inputs;
  if (!a || !b || add.inputs.length !== 2) return null;
  if (isBiasOf(b, a)) return { x: a, bias: b };
  return isBiasOf(a, b) ? { x: b, bias: a } : null;
}

const isBiasOf = (bias: Value, x: Value): boolean =>
  bias.shape?.length === 1 && !!x.shape && x.shape.length > 1 && isSameDim(bias.shape[0], x.shape.at(-1));
