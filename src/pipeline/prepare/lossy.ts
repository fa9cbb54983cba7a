/**
 * `--lossy` of `fuse` and `optimize`: when all that keeps the results is done, and was compared, the passes that
 * trade precision for speed run by themselves, so that the strict limits hold for everything
 * else. What they make is compared with the original too, and undone where it moves an output
 * by more than a hundredth of its largest value.
 */
import type { LossyFacts, PassFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";
import { relativeOf } from "./equivalence.js";
import { type Prepared, prepareModel } from "./prepare.js";
import type { PrepareRequest } from "./prepare-request.js";
import { throughBoth } from "./provenance.js";

export interface Approximation {
  readonly prepared: Prepared;
  readonly facts: LossyFacts;
}

/** @param exact what the request gave so far: the graph to approximate, and to go back to */
export async function approximate(exact: Prepared, request: PrepareRequest, record: RunRecord): Promise<Approximation> {
  const lossy = await record.stage("fuse", () =>
    prepareModel(
      {
        ...request,
        model: exact.path,
        baseline: request.model,
        recipe: "lossy",
        graph: { ...request.graph, keepOpset: true },
      },
      record.context,
    ),
  );
  const applied = lossy.passes.reduce((sum, pass) => sum + (pass.rejected === undefined ? pass.applied : 0), 0);
  const passes: readonly PassFacts[] = [...exact.passes, ...lossy.passes];
  const warnings = [...new Set([...exact.warnings, ...lossy.warnings])];
  const provenance = applied > 0 ? throughBoth(exact.provenance, lossy.provenance) : exact.provenance;
  const prepared = { ...(applied > 0 ? lossy : exact), passes, provenance, unfused: exact.unfused, warnings };
  return { prepared, facts: { applied, largestShift: applied > 0 ? largestShift(lossy) : null } };
}

/** How far an output moved at most, as a share of its largest value; null where nothing was compared. */
function largestShift({ differences, equivalence }: Prepared): number | null {
  const shifts = differences.map(relativeOf);
  return equivalence.checked && shifts.length > 0 ? Math.max(...shifts) : null;
}

/** For the summary of the verdict. */
export function lossyText({ applied, largestShift: shift }: LossyFacts): string {
  if (applied === 0) return "nothing approximated";
  const by = shift === null ? "not compared" : `outputs move by up to ${shift.toExponential(1)} of their largest value`;
  return `${applied} ${applied === 1 ? "approximation" : "approximations"}, ${by}`;
}
