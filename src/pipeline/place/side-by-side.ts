/** How fast candidates are beside each other, before any of them is raced. */
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";

/**
 * All by one profile, or none: what was placed early was timed then. Integers that a table has placed keep its word beside the
 * fused model, so that `optimize` weighs them as `quantize` does: on small models a profile tells too much of their many nodes.
 */
export async function measureSideBySide(
  candidates: readonly Candidate[],
  workshop: Pick<Workshop, "measureSpeed" | "isByTable">,
  budgetMs: number,
): Promise<void> {
  const unknown = candidates.filter(({ speedup }) => speedup === null);
  if (unknown.length === 0) return;
  const known = candidates.filter(({ speedup }) => speedup !== null);
  const [fused, ...others] = unknown as [Candidate, ...Candidate[]];
  const isByTable =
    known.length > 0 &&
    known.every((each) => workshop.isByTable(each)) &&
    others.length === 0 &&
    fused.variant.kind === "fused";
  if (!isByTable) return workshop.measureSpeed(candidates, budgetMs);
  await workshop.measureSpeed([fused], budgetMs);
  // The table's word is beside the float model that integers are made of.
  for (const each of known) each.speedup! *= fused.speedup!;
}
