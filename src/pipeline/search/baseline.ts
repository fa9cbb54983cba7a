/**
 * What a result is judged against: the model that is changed, or the one that it was made of in an earlier step. Who prunes
 * first and quantizes then wants to know what both did together.
 */
import { InferOptError } from "../../base/errors.js";
import type { OptimizeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { refuseOtherInputs } from "../evaluation-data.js";
import type { Intake } from "../intake.js";
import { modelFacts } from "../model-facts.js";
import { asWritten } from "../model-runs.js";
import type { ModelFacts } from "../result.js";

/** Throws MODELS_DIFFER where the two take or give different things, and what loading throws. */
export async function baselineOf(
  { baseline, model, runtime }: OptimizeConfig,
  { facts, signature }: Intake,
  context: RunContext,
): Promise<ModelFacts> {
  if (baseline === undefined) return facts;
  const known = await context.runtime.describe(baseline, asWritten(runtime));
  refuseOtherInputs(known, signature, model);
  const [outputs, own] = [known.outputs, signature.outputs].map((all) => all.map(({ name }) => name));
  if (outputs!.join("\n") !== own!.join("\n")) {
    throw new InferOptError(
      "MODELS_DIFFER",
      "input",
      `${model} gives ${listed(own!)}, and ${baseline} ${listed(outputs!)}`,
      {
        hint: "--baseline is the model that this one was made of, in an earlier step.",
        fields: { candidate: model, outputs: own, wanted: outputs },
      },
    );
  }
  return modelFacts(baseline);
}

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
