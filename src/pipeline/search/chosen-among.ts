/** What to tell of a file that was found by the samples that judge it. */
import type { Candidate } from "../candidates/candidate.js";
import type { Verdict } from "../result.js";

/**
 * Null where one candidate alone met them, or where they are sure of it: of several, the one that passes is the one that these samples
 * are kindest to, and its interval does not know.
 */
export function chosenAmong(
  tried: readonly Pick<Candidate, "accuracy">[],
  { reasons }: Pick<Verdict, "reasons">,
): string | null {
  const judged = tried.filter(({ accuracy }) => accuracy !== null).length;
  const reason = reasons.find(({ limit }) => limit === "max-drop");
  const [, most] = reason?.interval ?? [];
  if (judged < 2 || reason?.status !== "met" || reason.wanted === null || typeof most !== "number") return null;
  if (most <= reason.wanted) return null;
  return `${judged} candidates were held against these samples until one passed: on others expect more of a drop than that; \`verify\` with samples that had no part in it says how much`;
}
