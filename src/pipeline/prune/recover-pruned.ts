/** Lets a pruned net learn from the original by gradients, where the fit alone has left something to be won. */
import { inputsOf } from "../../dataset/index.js";
import { loadModel } from "../../ir/index.js";
import type { RunContext } from "../context.js";
import { type NotRecovered, type Recovery, recoverWeights } from "../recover/recover-weights.js";
import { type PrunedFile, type PruningKnown, writtenNet } from "./pruned-file.js";

/** The net with what it has learned; the same file where it has learned nothing. */
export async function recoverPruned(
  { map, samples, runtime }: PruningKnown,
  file: PrunedFile,
  mostMs: number | null,
  context: RunContext,
): Promise<{ readonly file: PrunedFile; readonly outcome: Recovery | NotRecovered }> {
  const student = loadModel(file.path);
  const { data, fitted, heldOut } = samples;
  const indices = data.indices!;
  const inputs = inputsOf(map.model.graph);
  const outcome = await recoverWeights(
    {
      ...{ student, teacher: map.model, inputs, seed: runtime.seed, runtime },
      ...(mostMs !== null && { mostMs }),
      fit: { ...data, indices: indices.slice(0, fitted) },
      heldOut: { ...data, indices: indices.slice(fitted, fitted + heldOut) },
    },
    context,
  );
  if ("reason" in outcome || outcome.step === 0) return { file, outcome };
  return { file: writtenNet(student, file.report, context), outcome };
}
