/**
 * Which samples judge a candidate, and by what metric, when the user said it and when not.
 *
 *   --eval                    all of its samples
 *   --calibration alone       a fifth of it that calibration does not see
 *   neither                   made-up inputs: a smoke test
 */
import { InferOptError } from "../base/errors.js";
import { nearestName } from "../base/nearest.js";
import { seededRandom, shuffled } from "../base/random.js";
import { admit, type DatasetRef, type InputSpec, openDataset, openDatasetRef } from "../dataset/index.js";
import { type Dim, isFloat, loadModel, type Model, opsetOf } from "../ir/index.js";
import type { MetricRef } from "../metric/index.js";
import type { ModelSignature, PortInfo } from "../runtime/port.js";
import type { DataConfig, RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { asWritten } from "./model-runs.js";

export interface EvaluationData {
  readonly ref: DatasetRef;
  readonly count: number;
  readonly source: "eval" | "held-out" | "random";
  /** Whether the samples have labels that the metric may use. */
  readonly hasLabels: boolean;
}

/** What a candidate is judged by. */
export interface Evaluation {
  readonly data: EvaluationData;
  readonly metric: MetricRef;
  /** Of the original. */
  readonly signature: ModelSignature;
  /** Its outputs that every sample has a reference for. */
  readonly references: readonly string[];
  /** Its outputs that the candidate has not. */
  readonly missing: readonly string[];
}

/** Loads the original once to learn what goes in and out. Rejects as loading, opening and admitting the data do. */
export async function chooseEvaluation(
  model: string,
  candidate: string,
  config: DataConfig,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<Evaluation> {
  const signature = await context.runtime.describe(model, asWritten(runtime));
  const other = await context.runtime.describe(candidate, asWritten(runtime));
  refuseOtherInputs(signature, other, candidate);
  const kept = new Set(other.outputs.map(({ name }) => name));
  const data = await chooseEvaluationData(config, signature, runtime);
  const references = await refuseUnfit(data.ref, signature, signature.outputs);
  return {
    data,
    references,
    metric: chooseMetric(config.metric, data, signature, classProbabilities(loadModel(model))),
    signature,
    missing: signature.outputs.map(({ name }) => name).filter((name) => !kept.has(name)),
  };
}

/** Whether an output of the original, by its name, is of floats, or of what its file does not say. */
export function floatOutputs({ outputs }: Pick<ModelSignature, "outputs">): (output: string) => boolean {
  const others = new Set(outputs.filter(({ dtype }) => dtype !== null && !isFloat(dtype)).map(({ name }) => name));
  return (output) => !others.has(output);
}

/** A candidate may do without an input, but cannot be fed what the baseline does not know. */
export function refuseOtherInputs(baseline: ModelSignature, { inputs }: ModelSignature, candidate: string): void {
  const known = baseline.inputs.map(({ name }) => name);
  const other = inputs.find(({ name }) => !known.includes(name));
  if (!other) return;
  throw new InferOptError(
    "MODELS_DIFFER",
    "input",
    `${candidate} takes an input "${other.name}", which the baseline does not have (it has ${known.map((name) => `"${name}"`).join(", ") || "none"})`,
    { hint: "Compare two forms of one model.", fields: { candidate, input: other.name, inputs: known } },
  );
}

/**
 * Reads the samples once. Rejects as `admit` does at the first one that the model cannot be judged by. Of the outputs given,
 * those that every sample has a reference for.
 */
export async function refuseUnfit(
  ref: DatasetRef,
  { inputs }: Pick<ModelSignature, "inputs">,
  outputs?: readonly PortInfo[],
): Promise<readonly string[]> {
  if (ref.random) return [];
  const { references } = await admit(await openDatasetRef(ref, inputs), inputs, { ...(outputs && { outputs }) });
  return references;
}

/** Samples of a smoke test. */
const RANDOM_SAMPLES = 8;
const HELD_OUT_SHARE = 1 / 5;

/**
 * Throws what opening the dataset throws, GRAPH_INVALID for a model without outputs, FLAG_INVALID for a shape of an input that the
 * model has not, and BATCH_FIXED for a batch of samples, which come one at a time.
 */
export async function chooseEvaluationData(
  { calibration, eval: evaluation }: DataConfig,
  { inputs, outputs }: ModelSignature,
  config: RuntimeConfig,
): Promise<EvaluationData> {
  if (outputs.length === 0) {
    throw new InferOptError(
      "GRAPH_INVALID",
      "input",
      "the model has no outputs: nothing that it computes can be seen",
      {
        hint: "Declare its results as outputs of the graph, or export it again.",
      },
    );
  }
  refuseUnknownShapes(config.shapes, inputs);
  const data = evaluation ?? calibration;
  if (data !== null && config.batch !== 1) throw fixedBatch(data, config.batch, 1, true);
  if (evaluation !== null) {
    const { count, hasLabels } = await openDataset(evaluation, { signature: inputs });
    return { ref: { path: evaluation }, count, source: "eval", hasLabels };
  }
  if (calibration !== null) {
    const { count, hasLabels } = await openDataset(calibration, { signature: inputs });
    const indices = holdOut(count, config.seed).evaluation;
    return { ref: { path: calibration, indices }, count: indices.length, source: "held-out", hasLabels };
  }
  return {
    ref: randomInputs(inputs, config, RANDOM_SAMPLES),
    count: RANDOM_SAMPLES,
    source: "random",
    hasLabels: false,
  };
}

/**
 * Throws BATCH_FIXED where made-up inputs of a model do not have the batch asked for: its first dimensions, or those of given shapes,
 * are fixed to others. Of an input of unknown rank nobody knows, and one with a batch will do: states and lengths have none.
 * @param path of the model
 */
export function refuseFixedBatch(path: string, ref: DatasetRef, { shapes, batch }: RuntimeConfig): void {
  const sizes = ref.random?.signature?.map(({ name, shape }) => shapes.get(name)?.[0] ?? shape?.[0]) ?? [];
  const isFixed = sizes.length > 0 && sizes.every((size) => typeof size === "number" && size !== batch);
  if (isFixed) throw fixedBatch(path, batch, batchOf(ref), false);
}

/** @param path of the model, or of samples */
const fixedBatch = (path: string, batch: number, fixed: number, isData: boolean): InferOptError =>
  new InferOptError("BATCH_FIXED", "input", `${path} has batches of ${fixed}, and not of ${batch}`, {
    hint: isData
      ? "Samples come one at a time: leave out --batch; or leave out the samples, and inputs are made up in every batch size."
      : "Export the model with an open first dimension, or leave it open in --shape: input=N,3,224,224.",
    fields: { path, batch, fixed },
  });

/** Throws FLAG_INVALID for a shape of an input that the model has not. */
export function refuseUnknownShapes(shapes: ReadonlyMap<string, unknown>, inputs: readonly { name: string }[]): void {
  const names = inputs.map(({ name }) => name);
  for (const name of shapes.keys()) {
    if (names.includes(name)) continue;
    const nearest = nearestName(name, names);
    throw new InferOptError("FLAG_INVALID", "usage", `--shape: "${name}" is no input of the model`, {
      hint: nearest === null ? "The model takes no inputs." : `The nearest input is "${nearest}".`,
      fields: { flag: "--shape", value: name, inputs: names },
    });
  }
}

/** Different inputs that a model is timed with, in turn. */
const TIMING_SAMPLES = 16;

/**
 * What to time a model with: the first samples of real data. Made-up ones have one size each,
 * so that batch and throughput are what was asked for.
 */
export function timingData(
  { ref, count, source }: Pick<EvaluationData, "ref" | "count" | "source">,
  { inputs }: Pick<ModelSignature, "inputs">,
  config: RuntimeConfig,
): DatasetRef {
  if (source === "random") return randomInputs(inputs, config, 1);
  const indices = ref.indices ?? Array.from({ length: count }, (_, i) => i);
  return { ...ref, indices: indices.slice(0, TIMING_SAMPLES) };
}

/** Samples in one run: made-up inputs have the batch they were given, those of a dataset come one at a time. */
export function batchOf({ random }: DatasetRef): number {
  const first = random?.signature?.[0];
  const size = first && (random.shapes?.[first.name]?.[0] ?? first.shape?.[0]);
  return typeof size === "number" ? size : 1;
}

/** Made-up inputs in the shapes asked for. */
export function randomInputs(inputs: readonly InputSpec[], config: RuntimeConfig, count: number): DatasetRef {
  return {
    path: "random inputs",
    random: {
      seed: config.seed,
      count,
      signature: withBatch(inputs, config),
      shapes: Object.fromEntries(config.shapes),
    },
  };
}

/**
 * Sizes the first dimension where it is open and no shape was given. Its symbol is the batch
 * wherever it stands, so a later axis of that name takes the size too; a symbol that a given
 * shape sizes, and unnamed dimensions elsewhere, stay open.
 */
export function withBatch(
  inputs: readonly InputSpec[],
  { shapes, batch }: Pick<RuntimeConfig, "shapes" | "batch">,
): readonly InputSpec[] {
  const given = new Set<Dim>(
    inputs.flatMap(({ name, shape }) => shape?.filter((_, axis) => shapes.get(name)?.[axis] != null) ?? []),
  );
  const symbols = new Set<Dim>();
  for (const { shape } of inputs) {
    const first = shape?.[0];
    if (typeof first === "string" && !given.has(first)) symbols.add(first);
  }
  const sized = (dim: Dim, axis: number): Dim =>
    (axis === 0 && dim === null) || (typeof dim === "string" && symbols.has(dim)) ? batch : dim;
  // What a given shape leaves open in front is the batch as well.
  const isOpen = (name: string, axis: number): boolean => {
    const shape = shapes.get(name);
    return shape === undefined || (axis === 0 && shape[0] === null);
  };
  return inputs.map((input) => ({
    ...input,
    shape: input.shape?.map((dim, axis) => (isOpen(input.name, axis) ? sized(dim, axis) : dim)) ?? null,
  }));
}

export interface HeldOut {
  readonly calibration: readonly number[];
  readonly evaluation: readonly number[];
}

/**
 * Splits samples 0 .. count - 1 by chance into a fifth for evaluation, at least one, and
 * the rest for calibration, both ascending. Same count and seed, same split. With a single
 * sample there is nothing to split: it serves both.
 */
export function holdOut(count: number, seed: number): HeldOut {
  if (count === 1) return { calibration: [0], evaluation: [0] };
  const order = shuffled(count, seededRandom(seed));
  const held = Math.max(1, Math.round(count * HELD_OUT_SHARE));
  const ascending = (indices: readonly number[]): number[] => [...indices].sort((a, b) => a - b);
  return { calibration: ascending(order.slice(held)), evaluation: ascending(order.slice(0, held)) };
}

const top1: MetricRef = { kind: "builtin", name: "top1" };
const agreement: MetricRef = { kind: "builtin", name: "agreement" };
const cosine: MetricRef = { kind: "builtin", name: "cosine" };

/**
 * The metric that was asked for; else top1 where evaluation data has labels and the model
 * gives class scores; else agreement with the original model: of classes, or of directions
 * (cosine) where the outputs are numbers of another kind. Data that was held out of the
 * calibration set is judged by agreement, whatever labels it carries.
 */
export function chooseMetric(
  asked: MetricRef | null,
  data: Pick<EvaluationData, "hasLabels" | "source">,
  { outputs }: Pick<ModelSignature, "outputs">,
  probabilities: ReadonlySet<string> = new Set(),
): MetricRef {
  if (asked) return asked;
  const floats = outputs.filter(({ dtype }) => isFloat(dtype));
  // Answers in integers or text are compared as they are.
  if (floats.length === 0) return agreement;
  const scores = classOutput({ outputs });
  if (!scores || !(probabilities.has(scores.name) || looksLikeClassScores(scores, floats, data.hasLabels)))
    return cosine;
  return data.hasLabels && data.source === "eval" ? top1 : agreement;
}

/**
 * Outputs that a Softmax over the last axis makes: probabilities of classes, whatever they are called. How
 * similar two such vectors are depends on how sure the model is, and not on what it says.
 */
export function classProbabilities(model: Model): ReadonlySet<string> {
  const named = model.graph.outputs.filter(({ value: { producer, shape } }) => {
    if (!producer || !/^(Log)?Softmax$/.test(producer.opName)) return false;
    // Before opset 13 an axis that is not told is 1, which is the last one of a matrix.
    const axis = producer.int("axis", opsetOf(model) < 13 ? 1 : -1);
    return axis === -1 || axis + 1 === shape?.length;
  });
  return new Set(named.map(({ name }) => name));
}

/** The one output that metrics of classes look at, if any. */
export const classOutput = ({ outputs }: Pick<ModelSignature, "outputs">): PortInfo | undefined =>
  outputs.find((output) => isFloat(output.dtype) && mayHoldClasses(output));

/** Metrics read the first float output that has an axis longer than 1 besides the batch. */
const mayHoldClasses = ({ shape }: PortInfo): boolean =>
  shape === null || (significant(shape).length > 1 && !shape.includes(0));

/**
 * Class scores are [batch, classes], with axes of 1 behind or not; or [batch, positions,
 * classes] when the name says so. Vectors that are called an embedding are none, nor are
 * images, masks and boxes, nor, where there are no labels, one number for each of the places that another output has several for.
 */
function looksLikeClassScores({ name, shape }: PortInfo, outputs: readonly PortInfo[], hasLabels: boolean): boolean {
  if (shape === null || /embed|hidden|feature|pool/i.test(name)) return false;
  const rank = significant(shape).length;
  if (rank === 3) return /logit|prob|score|class/i.test(name);
  const isNamed = hasLabels || /logit|prob|class/i.test(name);
  return rank === 2 && (isNamed || !outputs.some((output) => hasSeveralFor(shape, output)));
}

/** Of boxes, or key points: [batch, places, numbers]. */
function hasSeveralFor([batch, places]: readonly Dim[], { shape }: PortInfo): boolean {
  const [others, same, numbers] = shape?.length === 3 ? shape : [];
  return places !== null && same === places && others === batch && typeof numbers === "number" && numbers > 1;
}

/** The shape without axes of 1 at its end. */
const significant = (shape: readonly Dim[]): readonly Dim[] =>
  shape.slice(0, shape.findLastIndex((dim) => dim !== 1) + 1);
