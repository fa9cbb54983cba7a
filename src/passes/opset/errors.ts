import { InferOptError } from "../../base/errors.js";

/** One operator call that stands in the way of another opset. */
export interface Refusal {
  readonly node: string;
  readonly op: string;
  /** The version at which its meaning changes. */
  readonly at: number;
  readonly reason: string;
}

/** Codes: OPSET_UNCONVERTIBLE, OPSET_UNSUPPORTED. */
export function unconvertible(refusals: readonly Refusal[], from: number, to: number): InferOptError {
  const { node, op, at, reason } = refusals[0]!;
  const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : "";
  return new InferOptError(
    "OPSET_UNCONVERTIBLE",
    "input",
    `${op} node ${node} cannot go from opset ${from} to ${to}: at opset ${at}, ${reason}${more}`,
    {
      hint: `Export the model again at opset ${to}, or stay below opset ${at}.`,
      fields: { node, op, from, to, at, refusals },
    },
  );
}

export const unsupportedOpset = (what: string, version: number, hint: string): InferOptError =>
  new InferOptError("OPSET_UNSUPPORTED", "input", what, { hint, fields: { version } });
