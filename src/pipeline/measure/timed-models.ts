/** Models that are only timed, and what to feed them. */
import { InferOptError } from "../../base/errors.js";
import { type DatasetRef, neededInputsOf } from "../../dataset/index.js";
import { loadModel, type Model } from "../../ir/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { chooseEvaluationData, refuseFixedBatch, refuseUnfit, timingData } from "../evaluation-data.js";
import { modelFacts } from "../model-facts.js";
import { asWritten } from "../model-runs.js";
import type { ModelFacts } from "../result.js";
import { refuseBatchBeyondMemory } from "./batch-memory.js";

export interface TimedModels {
  readonly models: readonly ModelFacts[];
  /** In the shapes of the first. */
  readonly data: DatasetRef;
}

/**
 * `paths`: one at least; `data`: a dataset, or made-up inputs when null. Rejects with MODELS_DIFFER where one takes what the first
 * does not, and as reading the models, and opening and admitting the data, do.
 */
export async function timedModels(
  paths: readonly string[],
  data: string | null,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<TimedModels> {
  const models: ModelFacts[] = [];
  let first: readonly string[] | null = null;
  for (const path of paths) {
    const model = loadModel(path);
    const inputs = namesToFeed(model);
    first ??= inputs;
    if (inputs.some((name) => !first!.includes(name))) throw otherInputs(path, inputs, paths[0]!, first);
    models.push(await modelFacts(path, model));
  }
  const signature = await context.runtime.describe(models[0]!.path, asWritten(runtime));
  const chosen = await chooseEvaluationData({ calibration: null, eval: data, metric: null }, signature, runtime);
  if (data === null) await refuseBatchBeyondMemory(models[0]!.path, signature.inputs, runtime, context);
  const ref = timingData(chosen, signature, runtime);
  if (runtime.batch !== 1) refuseFixedBatch(models[0]!.path, ref, runtime);
  await refuseUnfit(ref, signature);
  return { models, data: ref };
}

/** Inputs without a value of their own. */
const namesToFeed = ({ graph }: Model): string[] => neededInputsOf(graph).map(({ name }) => name);

function otherInputs(path: string, inputs: readonly string[], first: string, known: readonly string[]): InferOptError {
  const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ") || "nothing";
  return new InferOptError(
    "MODELS_DIFFER",
    "input",
    `${path} takes ${listed(inputs)}, and ${first} takes ${listed(known)}: models are timed in turns on the same inputs`,
    {
      hint: `Time them one by one, each with its own inputs: infer-opt bench ${path}.`,
      fields: { candidate: path, inputs, baseline: first, known },
    },
  );
}
