/** `verify`: how far a candidate's answers are from the original's, by metric, by output, and by layer. */
import type { DatasetRef } from "../../dataset/index.js";
import type { CompareJob } from "../../runtime/port.js";
import type { DataConfig, Limits, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { chooseEvaluation, floatOutputs } from "../evaluation-data.js";
import { provePlacement } from "../measure/placement.js";
import { modelFacts } from "../model-facts.js";
import { answering, answeringAsWritten } from "../model-runs.js";
import type { DifferenceFacts, DriftFacts, LayerDifferences, RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import { declaredLimits } from "../verdict/required-limit.js";
import { judge } from "../verdict/verdict.js";
import { scoreModels } from "./accuracy.js";
import { differenceFacts, outputWarnings } from "./difference.js";
import { compareLayers } from "./layers.js";
import { judgeAllNaN, judgeDead } from "./nonsense.js";
import { answeringFor } from "./other-target.js";
import { compareWithReferences } from "./reference-outputs.js";
import { judgeSaturation } from "./saturation.js";

export interface VerifyConfig {
  readonly baseline: string;
  readonly candidate: string;
  readonly data: DataConfig;
  readonly runtime: RuntimeConfig;
  readonly limits: Limits;
  /** Where the candidate is to run, as `--target` names it; absent: here. */
  readonly target?: string;
  /** Also tell what the runtime's own rewriting changes. */
  readonly drift?: boolean;
  /** Also look for the layer where the models part. */
  readonly layers?: boolean;
  /** In dB; see compareLayers. */
  readonly layersBelowDb?: number;
}

/** Outputs are compared as delivered: both models with all that the runtime makes of them. */
export async function runVerify(given: VerifyConfig, context: RunContext): Promise<RunResult> {
  const config = answeringFor(given, context);
  const { baseline, candidate, runtime, limits } = config;
  const record = new RunRecord("verify", context);
  const { model, candidateModel, evaluation } = await record.stage("load", async () => ({
    model: await modelFacts(baseline),
    candidateModel: await modelFacts(candidate),
    evaluation: await chooseEvaluation(baseline, candidate, config.data, runtime, context),
  }));
  const { data, metric } = evaluation;
  const placement = await provePlacement({ model: candidate, data: data.ref, config: runtime, record });

  const { accuracy, differences, references, drift, layers } = await record.stage("verify", async () => {
    const scores = await scoreModels(context, {
      models: [baseline, candidate],
      data: data.ref,
      metric,
      session: answering(runtime),
      withReferences: evaluation.references.length > 0,
      seed: runtime.seed,
      confidence: limits.confidence,
      // The samples are gone through twice.
      onProgress: (done, total) => record.progress(done, 2 * total),
    });
    return {
      accuracy: scores.candidates[0]!,
      differences: await context.runtime.compare({
        baseline,
        candidate,
        data: data.ref,
        session: answering(runtime),
        isDetailed: true,
        onProgress: (done, total) => record.progress(total + done, 2 * total),
      }),
      references: await compareWithReferences(context, config, evaluation, runtime),
      drift: config.drift ? await measureDrift(config, data.ref, context) : null,
      layers: config.layers
        ? await compareLayers(context, {
            baseline,
            candidate,
            data: data.ref,
            count: data.count,
            runtime,
            ...(config.layersBelowDb !== undefined && { thresholdDb: config.layersBelowDb }),
            onProgress: record.progress,
          })
        : null,
    };
  });

  const saturation = judgeSaturation(candidate, config.target ?? null, runtime, context);
  const { verdict, warnings } = judge(
    declaredLimits(limits, metric),
    {
      accuracy,
      latency: null,
      bytes: { baseline: model.bytes, candidate: candidateModel.bytes },
      elsewhere: saturation.reason,
      nonsense: judgeAllNaN(differences) ?? judgeDead(differences, floatOutputs(evaluation.signature)),
    },
    { gainRequired: false, goal: "speed" },
  );
  record.warn(
    ...saturation.warnings,
    ...outputWarnings(differences, accuracy.facts?.metric ?? null, evaluation.signature),
    ...(references?.warnings ?? []),
    ...warnings,
  );
  if (layers && layers.compared === 0)
    record.warn("no value has the same name in both models: layers cannot be compared");
  else if (layers) record.warn(...partedElsewhere(layers, differenceFacts(differences), data.count));
  return record.result({
    model,
    candidateModel,
    verdict,
    accuracy: accuracy.facts,
    difference: differenceFacts(differences),
    ...(placement && { placement }),
    ...(references && { references: references.facts }),
    ...(drift && { drift }),
    ...(layers && { layers }),
  });
}

/**
 * Layers are looked at as written, on a few samples, and outputs as delivered, on all: those that were looked at
 * both ways tell that it is not the numbers of the graph, on those samples.
 */
function partedElsewhere(
  { first, thresholdDb, samples, along = [] }: LayerDifferences,
  differences: readonly DifferenceFacts[],
  count: number,
): string[] {
  if (first !== null) return [];
  const asWritten = new Set(along.map(({ value }) => value));
  const isTold = ({ output, sqnrDb }: DifferenceFacts): boolean =>
    sqnrDb !== null && sqnrDb < thresholdDb && asWritten.has(output);
  const told = differences.find(isTold);
  if (!told) return [];
  const [looked, all, further] =
    samples < count
      ? [`, on the first ${samples} of ${count} samples`, ", on all of them", ", or samples further on"]
      : ["", "", ""];
  return [
    `no layer parts as the models are written${looked}, and output "${told.output}" does as they are delivered${all} (${told.sqnrDb!.toFixed(1)} dB): it may be what the runtime makes of the models when it loads them, which --drift tells${further}`,
  ];
}

/** Three comparisons: the models as written, and each with itself as it is delivered. */
async function measureDrift(
  { baseline, candidate, runtime }: VerifyConfig,
  data: DatasetRef,
  context: RunContext,
): Promise<DriftFacts> {
  const off = answeringAsWritten(runtime);
  const self = (model: string): CompareJob => ({
    baseline: model,
    candidate: model,
    data,
    session: off,
    candidateSession: answering(runtime),
  });
  const compare = async (job: CompareJob): Promise<DriftFacts["asWritten"]> =>
    differenceFacts(await context.runtime.compare(job));
  return {
    asWritten: await compare({ baseline, candidate, data, session: off }),
    baseline: await compare(self(baseline)),
    candidate: await compare(self(candidate)),
  };
}
