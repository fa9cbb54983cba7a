/** Two models against outputs that came with the data: what the model's author got, and neither of them need. */
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { Evaluation } from "../evaluation-data.js";
import { answering } from "../model-runs.js";
import type { ReferenceFacts } from "../result.js";
import { differenceFacts, differenceWarnings } from "./difference.js";

export interface ReferenceComparison {
  readonly facts: ReferenceFacts;
  readonly warnings: readonly string[];
}

/** null where the data has no outputs. Rejects as running the models does. */
export async function compareWithReferences(
  context: RunContext,
  models: { readonly baseline: string; readonly candidate: string },
  { data, references }: Evaluation,
  runtime: RuntimeConfig,
): Promise<ReferenceComparison | null> {
  if (references.length === 0) return null;
  const compare = (candidate: string) =>
    context.runtime.compare({
      baseline: models.baseline,
      candidate,
      data: data.ref,
      pairs: references.map((name) => [name, name] as const),
      session: answering(runtime),
      isDetailed: true,
      withReferences: true,
    });
  const [baseline, candidate] = [await compare(models.baseline), await compare(models.candidate)];
  const told = (who: string, warnings: readonly string[]) =>
    warnings.map((warning) => `${who} against the reference outputs: ${warning}`);
  return {
    facts: { baseline: differenceFacts(baseline), candidate: differenceFacts(candidate) },
    warnings: [
      ...told("the baseline", differenceWarnings(baseline)),
      ...told("the candidate", differenceWarnings(candidate)),
    ],
  };
}
