/** What `fuse` does last, and other commands once they have placed integers: see the catalog. */
import { loadModel } from "../../ir/index.js";
import { approximations, finishing } from "../../passes/catalog.js";
import { type PassReport, type Rewrite, runRewrites } from "../../rewrite/index.js";
import type { GraphConfig } from "../config.js";
import type { PassFacts } from "../result.js";

type Chosen = Pick<GraphConfig, "skip" | "only">;

/** Without what the user leaves out. */
export const finishingFor = (graph: Chosen): readonly Rewrite[] => chosenOf(finishing, graph);

/** Of a model with integers, whose own errors are far larger: measured with them, as all of a candidate is. */
export const approximatingFor = (graph: Chosen): readonly Rewrite[] => chosenOf(approximations, graph);

const chosenOf = (rewrites: readonly Rewrite[], { skip, only }: Chosen): readonly Rewrite[] =>
  rewrites.filter(({ name }) => !skip.includes(name) && (only.length === 0 || only.includes(name)));

/** Whether it has anything to do in a model. */
export const isFinishedOtherwise = (path: string, rewrites: readonly Rewrite[]): boolean =>
  rewrites.length > 0 && runRewrites(loadModel(path), rewrites).some(({ applied }) => applied > 0);

/** What passes did before, and then. */
export function withFinished(passes: readonly PassFacts[], finished: readonly PassReport[]): readonly PassFacts[] {
  const later = new Map(finished.map((report) => [report.name, report]));
  const earlier = passes.map((pass) => {
    const again = later.get(pass.name);
    later.delete(pass.name);
    return again ? { ...pass, applied: pass.applied + again.applied } : pass;
  });
  return [...earlier, ...later.values()];
}
