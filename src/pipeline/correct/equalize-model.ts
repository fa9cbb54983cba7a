/** Equalizes the prepared model's channels for static integers, when that brings the outputs closer to the float model's. */
import { setImmediate } from "node:timers/promises";
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, loadModel, type Model } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import { tapChannels } from "../../quantization/equalize/channel-taps.js";
import { type EqualizedGroup, Equalizer, scalableValues } from "../../quantization/equalize/equalize.js";
import { activationsOf } from "../../quantization/insert-qdq.js";
import { type PlacementOptions, planStatic } from "../../quantization/plan-static.js";
import { staticRecipe } from "../../quantization/recipe.js";
import { removeWithFeeders } from "../../rewrite/index.js";
import { observeActivations, widestPlacement } from "../calibrate/calibration.js";
import { Workshop, type WorkshopOptions } from "../candidates/workshop.js";
import type { RunContext } from "../context.js";
import { fewOf, type Intake } from "../intake.js";
import { asWritten, linkedFile, removeLinked, untimed, withSaved } from "../model-runs.js";
import type { CorrectionFacts } from "./correction-facts.js";
import { judgeCorrection, samplesToFit } from "./corrections.js";

export interface Equalized {
  /** A model that computes what the prepared one does; null when nothing was kept. */
  readonly path: string | null;
  readonly facts: CorrectionFacts | null;
}

/** With statistics of the prepared model's activations on `quickSamples`, where they were made before. */
export interface QuickOptions extends Omit<WorkshopOptions, "taps"> {
  readonly quick: ReadonlyMap<string, TapStatistics> | null;
}

/** Calibration samples that give ranges good enough to compare two models by. */
export const quickSamples = (intake: Intake): DatasetRef | null => samplesToFit(intake, QUICK);

const nothing: Equalized = { path: null, facts: null };

/** Samples whose channels are looked at, those that quick ranges come from, and those that judge. */
const LOOKED_AT = 8;
const QUICK = 2;
const JUDGING = 6;
/** Expected of the readers of all quantized tensors on average, or of a single group: below, the outputs hardly show it. */
const LEAST_EXPECTED_DB = 1;
const OUTSTANDING_DB = 6;
/** Weights of a model beyond which trying takes longer than all the rest. */
const MOST_BYTES = 48 << 20;
/** Relative difference that the rounding of float32 may make of scaled weights. */
const LARGEST_DIFFERENCE = 1e-3;

export async function equalizeModel(intake: Intake, options: QuickOptions, context: RunContext): Promise<Equalized> {
  const { prepared, target, runtime, excluded } = options;
  const data = samplesToFit(intake, LOOKED_AT);
  if (!data) return nothing;
  const placement: PlacementOptions = { ...widestPlacement, keepFloat: excluded };
  const tapped = loadModel(prepared);
  const values = scalableValues(tapped, planStatic(tapped, target, placement));
  if (values.size === 0 || weightBytes(tapped) > MOST_BYTES) return nothing;
  const taps = tapChannels(tapped, values);
  for (const node of [...tapped.graph.nodes()].reverse()) removeWithFeeders(node);
  const model = loadModel(prepared);
  const plan = planStatic(model, target, placement);
  const observed = new Set([...values.keys()].map(({ label }) => label));
  const { equalizer, reduced } = await withSaved(tapped, context, async (file) => {
    const session = untimed(runtime);
    const reducing = context.runtime.reduce({ model: file, data, outputs: taps.outputs, session });
    reducing.catch(() => undefined);
    // The model runs in its own process while its weights are looked at here.
    await setImmediate();
    return { equalizer: new Equalizer(model, plan, observed, target), reduced: await reducing };
  });
  const groups = equalizer.choose(taps.ranges(reduced, data.indices!.length));
  if (groups.length === 0) return nothing;
  const channels = groups.reduce((sum, group) => sum + group.channels, 0);
  const detail = `${channels} channels in ${groups.length} ${groups.length === 1 ? "group" : "groups"} of tensors`;
  if (!isPromising(groups, activationsOf(plan).length)) {
    return { path: null, facts: judgeCorrection("equalize", `${detail}, of which too little is expected`, null, null) };
  }
  equalizer.apply();
  const path = linkedFile(context, "equalized");
  linkModel(model, path);
  const facts = (await isSame(prepared, path, intake, options, context))
    ? await judged(detail, path, intake, options, context)
    : judgeCorrection("equalize", `${detail}, which changed the float model`, null, null);
  if (!facts.isKept) removeLinked(path);
  return { path: facts.isKept ? path : null, facts };
}

/** Whether it is worth the time to find out what it does to the outputs. `tensors` are quantized in all. */
export function isPromising(groups: readonly EqualizedGroup[], tensors: number): boolean {
  const expectedDb = groups.reduce((sum, group) => sum + group.expectedDb * group.tensors.length, 0) / tensors;
  return expectedDb >= LEAST_EXPECTED_DB || groups.some((group) => group.expectedDb >= OUTSTANDING_DB);
}

/** Both models as integers with quick ranges, on samples that neither has seen. */
async function judged(
  detail: string,
  equalized: string,
  intake: Intake,
  options: QuickOptions,
  context: RunContext,
): Promise<CorrectionFacts> {
  const { target, runtime, excluded: keepFloat } = options;
  const data = quickSamples(intake)!;
  const variant = {
    kind: "integers",
    recipe: staticRecipe({ placement: widestPlacement, method: "mse" }),
  } as const;
  const made = [];
  for (const prepared of [options.prepared, equalized]) {
    const known = prepared === options.prepared ? options.quick : null;
    const request = { prepared, target, data, runtime, keepFloat, onProgress: () => {} };
    const taps = known ?? (await observeActivations(request, context));
    const shop = new Workshop({ ...options, prepared, taps, trial: fewOf(intake.trial, JUDGING) }, context);
    made.push({ shop, candidate: shop.make(variant) });
  }
  const [before, after] = made.map(({ candidate }) => candidate);
  await made[0]!.shop.measureError([before!, after!]);
  for (const { shop, candidate } of made) shop.discard(candidate);
  return judgeCorrection("equalize", detail, before!, after!);
}

/** Whether what was scaled and scaled back computes what it did, but for rounding. */
export async function isSame(
  baseline: string,
  candidate: string,
  { trial }: Pick<Intake, "trial">,
  { runtime }: Pick<QuickOptions, "runtime">,
  context: RunContext,
): Promise<boolean> {
  const differences = await context.runtime.compare({
    baseline,
    candidate,
    data: fewOf(trial, 2),
    session: untimed(runtime, asWritten),
  });
  return differences.every(
    ({ mismatch, nanMismatch, relativeL2 }) =>
      mismatch === null && nanMismatch === 0 && !(relativeL2 > LARGEST_DIFFERENCE),
  );
}

const weightBytes = ({ graph }: Model): number =>
  graph.constants.reduce((sum, { constant }) => sum + (constant?.byteLength ?? 0), 0);
