/** What every run that changes a model begins with: the model's facts, its signature, and data that was let in. */
import { setImmediate } from "node:timers/promises";
import { InferOptError } from "../base/errors.js";
import { spread } from "../base/spread.js";
import { type Admission, admit, type DatasetRef, inputsOf, openDataset, SampleStore } from "../dataset/index.js";
import { loadModel, type Model, opsetOf } from "../ir/index.js";
import { type MetricRef, refuseUnusable } from "../metric/index.js";
import { OLDEST_OPSET } from "../passes/opset/range.js";
import type { ModelSignature } from "../runtime/port.js";
import type { DataConfig, FuseConfig, RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import {
  chooseEvaluationData,
  chooseMetric,
  classProbabilities,
  type EvaluationData,
  holdOut,
  randomInputs,
  refuseFixedBatch,
} from "./evaluation-data.js";
import { oddWeightsRefuser } from "./finite-weights.js";
import { sizedSignature } from "./fix-shapes.js";
import { factsReader } from "./model-facts.js";
import { asWritten, despiteCrash, linkedTwin, samplesFile } from "./model-runs.js";
import { refuseOverWeights } from "./output/refuse-over-weights.js";
import type { ModelFacts } from "./result.js";
import type { RunRecord } from "./run-record.js";
import { TRIAL_SAMPLES } from "./sample-counts.js";

export interface Intake {
  readonly facts: ModelFacts;
  /** As it was read, and not to be changed; of `takeInLoaded` it is the caller's own. */
  readonly original: Model;
  readonly signature: ModelSignature;
  /** Samples for calibration: all of them when others evaluate, the part that is not held out otherwise. */
  readonly fit: {
    readonly ref: DatasetRef;
    readonly count: number;
    readonly digest: string;
    /** Indices of those that the evaluation data has too. */
    readonly shared: readonly number[];
  } | null;
  readonly evaluation: EvaluationData;
  /** Of the file that the evaluation data is of, by its samples and labels; null where it is made up. */
  readonly evaluationDigest: string | null;
  /** Whether any sample of that file has labels; false where it is made up. */
  readonly isLabelled: boolean;
  readonly metric: MetricRef;
  /** A few samples, of the calibration data where there is some: for comparing, trial errors and races. */
  readonly trial: DatasetRef;
  /** Why the runtime cannot run the model, where that is for want of an operator; null when it can. */
  readonly unrunnable: string | null;
}

/**
 * What will be done with the model: its graph is rewritten, its numbers are made shorter too, or its weights are fitted to
 * samples, which takes care itself that none of them judges (prune/fit-samples.ts).
 */
export type Purpose = "graph" | "numbers" | "weights";

/**
 * Throws the codes of reading a model, of the runtime refusing it, and of admitting data.
 * An operator that the runtime lacks is no reason to refuse a model whose graph alone is rewritten.
 */
export async function takeIn(config: FuseConfig, record: RunRecord, purpose: Purpose = "numbers"): Promise<Intake> {
  const { judged, facts } = takeInLoaded(loadModel(config.model), config, record, purpose);
  const [judgement, read] = await Promise.all([judged, facts]);
  return { ...judgement, facts: read };
}

/**
 * The same of a file as it was loaded: what the runtime and the data say, and what comes of reading the file through.
 * The model is asked before this returns: the caller may change it then.
 */
export function takeInLoaded(model: Model, config: FuseConfig, record: RunRecord, purpose: Purpose) {
  refuseOverWeights(model, config.out);
  return { judged: judge(model, config, record, purpose), facts: readThrough(model, config.model) };
}

async function judge(
  model: Model,
  config: FuseConfig,
  record: RunRecord,
  purpose: Purpose,
): Promise<Omit<Intake, "facts">> {
  const { context } = record;
  const declared = declaredSignature(model);
  const isOld = opsetOf(model) < OLDEST_OPSET;
  const classes = classProbabilities(model);
  // What the caller asks of the runtime about the same model meanwhile comes first: more waits for it.
  await setImmediate();
  const describing = despiteCrash(() =>
    context.runtime.describe(linkedTwin(config.model, context), asWritten(config.runtime)),
  );
  let unrunnable: string | null = null;
  const described = await describing.catch((thrown: unknown): ModelSignature => {
    if (purpose !== "graph" || isOld || !isOperatorMissing(thrown)) throw thrown;
    unrunnable = thrown.message;
    return declared;
  });
  const signature = sizedSignature(described, config.graph.shapes);
  const { data, runtime } = config;

  const [calibration, eval_] = await letBothIn(data, signature, record);
  if (calibration && eval_ && data.eval !== null && purpose !== "weights") warnOfOverlap(calibration, eval_, record);
  if (calibration?.samples === 1 && purpose === "numbers") warnOfOne(data, record);

  const evaluation = withStore(await chooseEvaluationData(data, signature, runtime), eval_ ?? calibration);
  if (runtime.batch !== 1) refuseFixedBatch(config.model, evaluation.ref, runtime);
  const fit = calibration && fitOf(data, calibration, eval_ ?? calibration, evaluation.ref, runtime);
  return {
    original: model,
    signature,
    fit,
    evaluation,
    evaluationDigest: (eval_ ?? calibration)?.digest ?? null,
    isLabelled: ((eval_ ?? calibration)?.labelled ?? 0) > 0,
    metric: chooseMetric(data.metric, evaluation, signature, classes),
    trial: trialOf(fit?.ref ?? evaluation.ref, fit?.count ?? evaluation.count, signature, runtime),
    unrunnable,
  };
}

/** Throws METRIC_MODULE_MISSING or METRIC_LABELS_MISSING where the metric cannot judge by the evaluation data. */
export function refuseUnjudged({ metric, evaluation, isLabelled }: Intake): void {
  const data = evaluation.source === "random" ? "made-up data" : evaluation.ref.path;
  refuseUnusable(metric, data, isLabelled);
}

/** For its digest, and its weights for what is no number: in small steps, whenever there is nothing else to do. */
async function readThrough(model: Model, path: string): Promise<ModelFacts> {
  const refuseOddWeights = oddWeightsRefuser(model);
  const readFacts = factsReader(path, model, true);
  // Reading blocks: the runtime's process gets its work first.
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  await refuseOddWeights();
  return readFacts();
}

const isOperatorMissing = (thrown: unknown): thrown is InferOptError =>
  thrown instanceof InferOptError && thrown.code === "MODEL_REJECTED" && thrown.fields["isOperatorMissing"] === true;

/** What the file says, where the runtime has no word on it. */
const declaredSignature = ({ graph }: Model): ModelSignature => ({
  inputs: inputsOf(graph),
  outputs: graph.outputs.map(({ name, value: { dtype, shape } }) => ({ name, dtype, shape })),
});

interface Admitted extends Admission {
  /** Of its samples; absent where they are read from their files again. */
  readonly store?: string;
}

/** Calibration and evaluation data, which may be the same; what is wrong with the former is told first. */
async function letBothIn(
  data: DataConfig,
  signature: ModelSignature,
  record: RunRecord,
): Promise<readonly [Admitted | null, Admitted | null]> {
  const paths = [...new Set([data.calibration, data.eval ?? data.calibration])];
  // Inflating keeps a thread busy: two files are read at once.
  const read = await Promise.allSettled(
    paths.map((path) => (path === null ? null : letIn(path, signature, record.context))),
  );
  const admitted = read.map((one) => {
    if (one.status === "rejected") throw one.reason;
    for (const { message, hint, severity } of one.value?.findings ?? []) {
      if (severity === "warning") record.warn(hint ? `${message}. ${hint}` : message);
    }
    return one.value;
  });
  return [admitted[0]!, admitted.at(-1)!];
}

async function letIn(path: string, signature: ModelSignature, context: RunContext): Promise<Admitted> {
  const dataset = await openDataset(path, { signature: signature.inputs });
  const store = new SampleStore(samplesFile(context));
  const admission = await admit(dataset, signature.inputs, { store });
  return store.finish(dataset) ? { ...admission, store: store.path } : admission;
}

const withStore = (data: EvaluationData, admitted: Admitted | null): EvaluationData =>
  admitted?.store && !data.ref.random ? { ...data, ref: { ...data.ref, store: admitted.store } } : data;

function fitOf(
  data: DataConfig,
  admitted: Admitted,
  judging: Admission,
  evaluation: DatasetRef,
  runtime: RuntimeConfig,
): NonNullable<Intake["fit"]> {
  const { samples, digest, store, hashes } = admitted;
  const all = { path: data.calibration!, ...(store && { store }) };
  const ref = data.eval === null ? { ...all, indices: holdOut(samples, runtime.seed).calibration } : all;
  const { indices } = allOf({ ref, count: samples });
  const judged = new Set(evaluation.indices?.map((index) => judging.hashes[index]) ?? judging.hashes);
  return { ref, count: indices!.length, digest, shared: indices!.filter((index) => judged.has(hashes[index]!)) };
}

function warnOfOverlap(calibration: Admission, evaluation: Admission, record: RunRecord): void {
  const seen = new Set(calibration.hashes);
  const shared = evaluation.hashes.filter((hash) => seen.has(hash)).length;
  if (shared > 0) {
    record.warn(
      `${shared} of ${evaluation.samples} evaluation samples are in the calibration data too: accuracy looks better than it is`,
    );
  }
}

function warnOfOne({ calibration, eval: judging }: DataConfig, record: RunRecord): void {
  const itself = judging === null ? ", and the result is judged by the same one" : "";
  record.warn(
    `${calibration} holds a single sample: ranges made of it clip what it does not show${itself}. Give 32 or more`,
  );
}

function trialOf(ref: DatasetRef, count: number, signature: ModelSignature, runtime: RuntimeConfig): DatasetRef {
  if (ref.random) return randomInputs(signature.inputs, runtime, Math.min(4, count));
  const indices = allOf({ ref, count }).indices!;
  // Spread over the set: neighbours in a file are often alike.
  const step = Math.max(1, Math.floor(indices.length / TRIAL_SAMPLES));
  return { ...ref, indices: indices.filter((_, i) => i % step === 0).slice(0, TRIAL_SAMPLES) };
}

/** The same with so many samples in the trial at most, spread over those that were. */
export const withTrialOf = (intake: Intake, most: number): Intake =>
  intake.trial.indices && intake.trial.indices.length > most
    ? { ...intake, trial: { ...intake.trial, indices: spread(intake.trial.indices, most) } }
    : intake;

/** And these behind its own, where there are any. */
export const withSamples = (data: DatasetRef, added: readonly number[]): DatasetRef =>
  added.length > 0 ? { ...data, indices: [...data.indices!, ...added] } : data;

/** The first samples of the trial: enough to see a wrong rewrite. */
export const fewOf = (trial: DatasetRef, count: number): DatasetRef =>
  trial.random ? trial : { ...trial, ...(trial.indices && { indices: trial.indices.slice(0, count) }) };

/** All samples, by their indices. */
export const allOf = ({ ref, count }: { readonly ref: DatasetRef; readonly count: number }): DatasetRef =>
  ref.indices ? ref : { ...ref, indices: Array.from({ length: count }, (_, i) => i) };

/** Throws CALIBRATION_NEEDED for what cannot be done without samples. */
export function requireCalibration(has: boolean): void {
  if (has) return;
  throw new InferOptError(
    "CALIBRATION_NEEDED",
    "usage",
    "static quantization needs samples to find the ranges of activations",
    {
      hint: "Pass --calibration DATA or --ranges RANGES, or use --mode dynamic.",
    },
  );
}
