/**
 * Teaches a changed model by the one that it was made of: the weights take small steps down the gradient of how far its
 * outputs are from the teacher's, on samples without labels. Samples that no step sees say which weights are the best;
 * those it started from are among them, so the result is never further from the teacher than it was.
 */
import { InferOptError } from "../../base/errors.js";
import { seededRandom, shuffled } from "../../base/random.js";
import { conform, type DatasetRef, type InputSpec, openDatasetRef } from "../../dataset/index.js";
import { type Model, Tensor } from "../../ir/index.js";
import { countMacs } from "../../ops/macs.js";
import { adamRate } from "../../pruning/recover/adam.js";
import { MOVES, movesOf } from "../../pruning/recover/augment.js";
import { LOSS, RATE, type TrainingModels, trainingModels } from "../../pruning/recover/training-model.js";
import type { Tensors } from "../../runtime/port.js";
import type { TrainResult } from "../../runtime/train-job.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, describer, evaluator, withSaved } from "../model-runs.js";

export interface RecoverRequest {
  /** Its weights are replaced in place by better ones. */
  readonly student: Model;
  /** Of the same inputs and outputs. */
  readonly teacher: Model;
  /** What the samples were made for. */
  readonly inputs: readonly InputSpec[];
  readonly fit: DatasetRef;
  readonly heldOut: DatasetRef;
  /** As many as a few minutes allow, by the arithmetic of the models, when absent. */
  readonly steps?: number;
  /** Learning ends after this long, whatever has been learned by then; there is no such end when absent. */
  readonly mostMs?: number;
  readonly seed: number;
  readonly runtime: RuntimeConfig;
}

export interface Recovery {
  /** Steps after which the weights were taken; 0 when none made it better. */
  readonly step: number;
  /** Mean squared distance to the teacher on held-out samples, in units of its outputs' variance. */
  readonly before: number;
  readonly after: number;
  readonly history: readonly { readonly step: number; readonly loss: number }[];
  /** Nodes before which nothing was learned by way of them, and why. */
  readonly blocked: ReadonlyMap<string, string>;
}

/** Why nothing can be learned, in words for the report. */
export interface NotRecovered {
  readonly reason: string;
}

const BATCH = 32;
/** Twice as many bring a small model next to nothing more. */
const MOST_STEPS = 300;
const LEAST_STEPS = 40;
/** Multiply-accumulates of all steps together: minutes on one core. */
const MOST_MACS = 1.2e13;
/** Forwards and backwards through the student, and forwards through the teacher, by those of both forwards. */
const MACS_OF_A_STEP = 2.5;
/** Of 1e-3, 2e-3 and 4e-3 the largest served two small nets of digits best, by a little; larger nets were not tried. */
const RATE_AT_FIRST = 3e-3;
/** Steps in which the rate grows from nothing: Adam knows little of the gradients at first. */
const WARM_UP = 20;
const CHECKS = 24;
/** The rate falls to nothing by the end: what is worse in the middle may be better then. */
const PATIENCE = 16;

export async function recoverWeights(request: RecoverRequest, context: RunContext): Promise<Recovery | NotRecovered> {
  const { student } = request;
  const fit = await alike(request.fit, request.inputs);
  const heldOut = await alike(request.heldOut, request.inputs, fit?.sizes);
  if (!fit || !heldOut) return { reason: "there are no samples of the same sizes to learn from and to check with" };
  const learned = await learn(request, fit, heldOut.indices, context);
  if ("reason" in learned) return learned;
  const { models, result } = learned;
  if (result.step > 0) {
    for (const [name, constant] of models.parameters) {
      const learned = Tensor.f32(constant.constant!.dims, result.best.get(name)!.f32());
      student.graph.replaceUses(constant, student.graph.addConstant(constant.label, learned));
      student.graph.removeConstant(constant);
    }
  }
  const losses = new Map(result.history.map(({ step, loss }) => [step, loss]));
  return {
    step: result.step,
    before: losses.get(0)!,
    after: losses.get(result.step)!,
    history: result.history,
    blocked: models.blocked,
  };
}

interface Alike {
  readonly sizes: ReadonlyMap<string, readonly number[]>;
  /** In the dataset itself, ascending. */
  readonly indices: readonly number[];
}

/** The samples of the sizes that most have, or of those given; null when there are none. Sizes are part of the models. */
async function alike(
  data: DatasetRef,
  inputs: readonly InputSpec[],
  sizes?: ReadonlyMap<string, readonly number[]>,
): Promise<Alike | null> {
  const groups = new Map<string, { sizes: ReadonlyMap<string, readonly number[]>; indices: number[] }>();
  const dataset = await openDatasetRef(data, inputs);
  let position = 0;
  for await (const sample of dataset.samples()) {
    const dims = new Map([...conform(sample, inputs).feeds].map(([name, tensor]) => [name, tensor.dims]));
    const key = JSON.stringify([...dims]);
    const group = groups.get(key) ?? { sizes: dims, indices: [] };
    groups.set(key, group);
    group.indices.push(data.indices?.[position] ?? position);
    position++;
  }
  if (sizes) return groups.get(JSON.stringify([...sizes])) ?? null;
  return [...groups.values()].reduce<Alike | null>(
    (best, group) => (best && best.indices.length >= group.indices.length ? best : group),
    null,
  );
}

interface Learned {
  readonly models: TrainingModels;
  readonly result: TrainResult;
}

/** With as large a batch as there are samples for; one sample at a time where the model does not take more. */
async function learn(
  request: RecoverRequest,
  fit: Alike,
  heldOut: readonly number[],
  context: RunContext,
): Promise<Learned | NotRecovered> {
  const { student, teacher, runtime } = request;
  // Lone numbers have no axis along which samples could lie.
  const mayBatch = [...fit.sizes.values()].every((dims) => dims.length > 0);
  const batch = mayBatch ? Math.min(BATCH, fit.indices.length) : 1;
  const asked = { describe: describer(runtime, context), evaluate: evaluator(runtime, context) };
  for (const size of batch > 1 ? [batch, 1] : [1]) {
    const sizes =
      size === 1
        ? fit.sizes
        : new Map([...fit.sizes].map(([name, [first, ...rest]]) => [name, [first! * size, ...rest]]));
    try {
      const models = await trainingModels({ student, teacher, sizes, ...asked });
      if (!("reason" in models)) {
        const steps = request.steps ?? affordableSteps(models);
        return { models, result: await train({ ...request, steps }, models, fit.indices, heldOut, size, context) };
      }
      if (size === 1) return models;
    } catch (thrown) {
      // That a model has a size of 1 written into it may show only when it is run.
      if (size === 1 || !(thrown instanceof InferOptError) || thrown.code !== "RUN_FAILED") throw thrown;
    }
  }
  throw new Error("internal: one sample at a time is either learned from or refused");
}

/** The same for the same models, whatever the machine. */
function affordableSteps({ check }: TrainingModels): number {
  const { known } = countMacs(check);
  return Math.max(LEAST_STEPS, Math.min(MOST_STEPS, Math.round(MOST_MACS / (MACS_OF_A_STEP * Math.max(1, known)))));
}

type Planned = RecoverRequest & { readonly steps: number };

const train = (
  request: Planned,
  models: TrainingModels,
  fit: readonly number[],
  heldOut: readonly number[],
  batch: number,
  context: RunContext,
): Promise<TrainResult> =>
  withSaved(models.step, context, (step) =>
    withSaved(models.check, context, (check) =>
      context.runtime.train({
        step,
        check,
        inputs: request.inputs,
        data: { ...request.fit, indices: fit },
        heldOut: { ...request.heldOut, indices: heldOut },
        ...planSteps(request, models, fit.length, batch),
        state: models.state,
        carried: models.carried,
        kept: [...models.parameters.keys()],
        loss: LOSS,
        every: Math.max(1, Math.ceil(request.steps / CHECKS)),
        patience: PATIENCE,
        ...(request.mostMs !== undefined && { mostMs: request.mostMs }),
        session: asDelivered(request.runtime),
        onProgress: (done, total) => context.observer({ type: "progress", done, total }),
      }),
    ),
  );

/** What each step sees: samples in an order of their own for every round, the learning rate, and how far images are moved. */
function planSteps(
  { steps, seed }: Planned,
  { images }: TrainingModels,
  count: number,
  batch: number,
): { readonly batches: number[][]; readonly told: Tensors[] } {
  const random = seededRandom(seed);
  let left: number[] = [];
  const draw = (): number => {
    if (left.length === 0) left = shuffled(count, random);
    return left.pop()!;
  };
  const batches = Array.from({ length: steps }, () => Array.from({ length: batch }, draw));
  const told = batches.map((_, step): Tensors => {
    const warm = Math.min(1, (step + 1) / WARM_UP);
    const rate = RATE_AT_FIRST * warm * 0.5 * (1 + Math.cos((Math.PI * step) / steps));
    const values = new Map([[RATE, Tensor.scalar("f32", adamRate(rate, step + 1))]]);
    if (images) values.set(MOVES, movesOf(images, random));
    return values;
  });
  return { batches, told };
}
