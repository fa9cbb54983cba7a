/** Lets a pruned net learn from the original by gradients, where the fit alone has left something to be won. */
import { neededInputsOf } from "../../dataset/index.js";
import { loadModel } from "../../ir/index.js";
import type { Widths } from "../../pruning/choose/widths.js";
import { type NotRecovered, type Recovery, recoverWeights } from "../recover/recover-weights.js";
import type { RunRecord } from "../run-record.js";
import { type PrunedFile, type PruningKnown, prunedFile, removePruned, writtenNet } from "./pruned-file.js";

/** What learning came to; no file where that is nothing. */
export interface Learned {
  readonly file: PrunedFile | null;
  readonly outcome: Recovery | NotRecovered;
}

/**
 * Starts from a fit of its own, to which the samples are strange that say which step is the best: a net that was fitted to
 * them too is closer to the original there than anywhere else, and every step seems to lead away.
 *
 * @param leftMs of the time for the whole run, asked when the fit is done; null where there is no end
 */
export async function recoverPruned(
  known: PruningKnown,
  widths: Widths,
  leftMs: () => number | null,
  { context, progress }: RunRecord,
): Promise<Learned> {
  const { map, samples, runtime, bytesOf } = known;
  const start = await prunedFile(known, widths, context, progress, true);
  try {
    const student = loadModel(start.path);
    const { data, fitted, heldOut } = samples;
    const indices = data.indices!;
    const inputs = neededInputsOf(map.model.graph);
    const mostMs = leftMs();
    const outcome = await recoverWeights(
      {
        ...{ student, teacher: map.model, inputs, seed: runtime.seed, runtime },
        ...(mostMs !== null && { mostMs }),
        fit: { ...data, indices: indices.slice(0, fitted) },
        heldOut: { ...data, indices: indices.slice(fitted, fitted + heldOut) },
      },
      context,
    );
    if ("reason" in outcome || outcome.step === 0) return { file: null, outcome };
    return { file: writtenNet(student, start.report, bytesOf, context), outcome };
  } finally {
    removePruned(start);
  }
}
