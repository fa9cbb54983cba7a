/** What to tell of a file that was found by the samples that judge it. */
import type { Verdict } from "../result.js";
import { isAtMost } from "../verdict/accuracy-limit.js";

/**
 * Null where no other candidate missed the limit on them, or where they are sure of this one: of several, the one that passes is the one
 * that these samples are kindest to, and its interval does not know.
 */
export function chosenAmong(missed: number, { reasons }: Pick<Verdict, "reasons">): string | null {
  const reason = reasons.find(({ limit }) => limit === "max-drop");
  const most = reason?.interval?.[1];
  if (missed === 0 || reason?.status !== "met" || reason.got === null || typeof most !== "number") return null;
  if (reason.got <= 0 || isAtMost(most, reason)) return null;
  const others = missed === 1 ? "another candidate" : `${missed} other candidates`;
  return (
    `${others} missed the limit on accuracy on the same samples before this one met it: they flatter it, and others may show a ` +
    "larger drop; `verify` with samples that had no part in this says how much"
  );
}
