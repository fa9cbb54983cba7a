/** What to tell of a file that was found by the samples that judge it. */
import { isAtMost } from "../verdict/accuracy-limit.js";
import type { Ruling } from "../verdict/verdict.js";

/**
 * With a warning where other candidates missed the limit on the same samples, and these are not sure of this one: of several, the one
 * that passes is the one that they are kindest to, and its interval does not know.
 */
export function amongMissed(ruling: Ruling, missed: number): Ruling {
  const reason = ruling.verdict.reasons.find(({ limit }) => limit === "max-drop");
  const most = reason?.interval?.[1];
  if (missed === 0 || reason?.status !== "met" || reason.got === null || typeof most !== "number") return ruling;
  if (reason.got <= 0 || isAtMost(most, reason)) return ruling;
  const others = missed === 1 ? "another candidate" : `${missed} other candidates`;
  const warning =
    `${others} missed the limit on accuracy on the same samples before this one met it: they flatter it, and others may show a ` +
    "larger drop; `verify` with samples that had no part in this says how much";
  return { ...ruling, warnings: [...ruling.warnings, warning] };
}
