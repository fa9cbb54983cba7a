/** Models that are only timed, and what to feed them. */
import type { DatasetRef } from "../dataset/index.js";
import { refuseBatchBeyondMemory } from "./batch-memory.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { chooseEvaluationData, refuseUnfit, timingData } from "./evaluation-data.js";
import { modelFacts } from "./model-facts.js";
import { asWritten } from "./model-runs.js";
import type { ModelFacts } from "./result.js";

export interface TimedModels {
  readonly models: readonly ModelFacts[];
  /** In the shapes of the first. */
  readonly data: DatasetRef;
}

/** `paths`: one at least; `data`: a dataset, or made-up inputs when null. Rejects as reading the models, and opening and admitting the data, do. */
export async function timedModels(
  paths: readonly string[],
  data: string | null,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<TimedModels> {
  const models: ModelFacts[] = [];
  for (const path of paths) models.push(await modelFacts(path));
  const signature = await context.runtime.describe(models[0]!.path, asWritten(runtime));
  const chosen = await chooseEvaluationData({ calibration: null, eval: data, metric: null }, signature, runtime);
  if (data === null) await refuseBatchBeyondMemory(models[0]!.path, signature.inputs, runtime, context);
  const ref = timingData(chosen, signature, runtime);
  await refuseUnfit(ref, signature);
  return { models, data: ref };
}
