/**
 * Which range method each activation gets, and whether weights are rounded in view of their inputs, by the error that it causes at the
 * model's outputs, or where these are few numbers at what the last products read.
 *
 * Nothing cheaper predicts that error. The error of the tensor itself, or of the product that
 * reads it, always favours a tight clip; but what rounding adds is noise that later sums average
 * away, and what clipping adds is a bias that goes through, the further the earlier it happened.
 * So first every method is measured on the whole model, then, where it matters which, the others are
 * measured on one stretch of the model at a time. Errors of stretches add up nearly as they are, so the
 * best method of each is found on its own; the combination is kept only where it also wins on
 * samples that had no part in choosing it. Wherever there are enough samples, those that methods are chosen
 * by are none that ranges were made of, but for two whose answers are the largest (largest-answers.ts).
 */
import { spread } from "../../base/spread.js";
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, loadModel } from "../../ir/index.js";
import type { RangeMethod, TapStatistics } from "../../observe/index.js";
import { type StaticChoice, staticRecipe } from "../../quantization/recipe.js";
import { removeWithFeeders } from "../../rewrite/index.js";
import { activationLabels } from "../calibrate/write-taps.js";
import type { Candidate } from "../candidates/candidate.js";
import { innerValuesOf } from "../candidates/inner-values.js";
import { bestMeasure, gainDb, noiseOf } from "../candidates/output-noise.js";
import { elementsOfTap, type Wanted, Workshop } from "../candidates/workshop.js";
import type { RunContext } from "../context.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { beforeSquash } from "../correct/float-answers.js";
import { linkedFile, removeLinked } from "../model-runs.js";
import { sampleMs, samplesWithin } from "../sample-counts.js";
import { type Choice, compareMethods, type MakeMeasured } from "./compare-methods.js";

/**
 * Entropy is not among them: it leaves values out by the count alone, and ruins whole models by that. Nor is the
 * moving average, another clip beside percentiles: each method takes its share of the time there is. They can be asked for.
 */
const METHODS: readonly RangeMethod[] = ["minmax", "percentile", "mse"];
const MOST_STRETCHES = 5;
/** What measuring stretches may take of one core, and what one candidate takes: its weights are made integers, it is loaded and run. */
const REFINING_MS = 1000;
const MS_PER_MODEL = 60;
const MS_PER_WEIGHT_BYTE = 4e-6;
/** Samples that a candidate is run on: as many as fit this time, within bounds. */
const SAMPLES_MS = 100;
const [FEWEST_SAMPLES, MOST_SAMPLES] = [6, 12];
/** Where methods differ by less over the whole model, stretches differ by what the choice of the samples does. */
const LEAST_SPREAD_DB = 1;
/** A combination that is not better by this much is not worth its name. */
const LEAST_GAIN_DB = 0.1;

export interface ChosenMethods {
  readonly choice: Choice;
  /** Of the rounding that `choice` has or has not; null where nothing was compared. */
  readonly means: CorrectionFacts | null;
  /** A candidate of the workshop with this choice, its error measured on the trial's samples; null where none was made so. */
  readonly made: Candidate | null;
}

export interface SamplesToChooseBy {
  /** Best none of those that the statistics are of: what is clipped of values beyond shows on no other. */
  readonly fit: DatasetRef;
  /** Those of them that are there for their answers' size: methods are chosen by all of these, whatever there is time for. */
  readonly largest: readonly number[];
  /** Of the same data, and taken as far as they are not in `fit`. Null where there are too few: `fit` is parted then. */
  readonly checks: DatasetRef | null;
}

export interface ToChooseBy extends SamplesToChooseBy {
  /** The one method, where that is settled; null for any. */
  readonly method: RangeMethod | null;
  /** What weights may be rounded in view of; null for nothing. */
  readonly inputs: StaticChoice["inputs"] | null;
}

/**
 * The methods for the tensors that a placement quantizes, `keptFloat` left out. `workshop` has statistics.
 * One method for all of them unless refined.
 */
export async function chooseMethods(
  workshop: Workshop,
  placement: StaticChoice["placement"],
  data: ToChooseBy,
  keptFloat: ReadonlyMap<string, string> = new Map(),
  isRefined = true,
): Promise<ChosenMethods> {
  const { method: only, inputs } = data;
  if (only !== null && inputs === null) return { choice: { method: only }, means: null, made: null };
  const { options, context } = workshop;
  const { equalized: prepared = options.prepared, target } = options;
  const keepFloat = new Map([...options.excluded, ...keptFloat]);
  const labels = activationLabels(prepared, target, { ...placement, keepFloat });
  const unsquashed = unsquash(prepared, context);
  const inner = unsquashed !== null && options.inner ? innerValuesOf(unsquashed, options.format, context) : null;
  const makeWith = (trial: DatasetRef): MakeMeasured => {
    const changed = unsquashed !== null && { prepared: unsquashed, equalized: unsquashed, ...(inner && { inner }) };
    const shop = new Workshop({ ...options, ...changed, trial }, context);
    const wish = (choice: Choice): Wanted => ({
      variant: { kind: "integers", recipe: staticRecipe({ placement, ...choice }) },
      keptFloat,
    });
    return (choices, isWanted) => shop.makeMeasured(choices.map(wish), isWanted);
  };
  const measure = async (trial: DatasetRef, choices: readonly Choice[]): Promise<readonly Candidate[]> => {
    const made = await makeWith(trial)(choices);
    for (const candidate of made) workshop.discard(candidate);
    return made;
  };
  try {
    const { stretches: count, samples } = affordable(options.taps!, unsquashed ?? prepared);
    const [fit, held] = isRefined ? split(data, samples) : [data.fit];
    const { compared, rest, means } = await compareMethods(only ? [only] : METHODS, inputs, makeWith(fit));
    for (const candidate of rest) workshop.discard(candidate);
    // One for all that is compared here.
    const error = bestMeasure(compared.map(({ made }) => made));
    const noiseIn = (each: Candidate): number => noiseOf(error.of(each));
    const noises = compared.map(({ made }) => noiseIn(made));
    const best = noises.indexOf(Math.min(...noises));
    const { choice: single, made } = compared[best]!;
    const isOwn = unsquashed === null && fit === options.trial;
    const own = isOwn ? made : null;
    for (const { made } of compared) if (made !== own) workshop.discard(made);
    const alone = { choice: single, means, made: own };
    if (only || !isRefined || count < 2 || !(noises[best]! > 0 && Number.isFinite(noises[best]))) return alone;
    if (gainDb(Math.max(...noises), noises[best]!) < LEAST_SPREAD_DB) return alone;

    const stretches = cut(labels, count);
    const others = METHODS.filter((method) => method !== single.method);
    const trials = stretches.flatMap((stretch) =>
      others.map((method) => ({ ...single, methods: new Map(stretch.map((label) => [label, method])) })),
    );
    const gains = (await measure(fit, trials)).map((each) => noises[best]! - noiseIn(each));
    const methods = new Map<string, RangeMethod>();
    stretches.forEach((stretch, i) => {
      const own = gains.slice(i * others.length, (i + 1) * others.length);
      const most = Math.max(...own);
      if (most > 0) for (const label of stretch) methods.set(label, others[own.indexOf(most)]!);
    });
    if (methods.size === 0) return alone;
    const combined = { ...single, methods };
    const [before, after] = (await measure(held!, [single, combined])).map(noiseIn);
    if (gainDb(before!, after!) < LEAST_GAIN_DB) return alone;
    if (own) workshop.discard(own);
    return { choice: combined, means, made: null };
  } finally {
    for (const path of [unsquashed, inner?.float]) if (path) removeLinked(path);
  }
}

/** How much can be measured in the time there is; estimated, not timed, so that the choice is the same each time. */
function affordable(
  taps: ReadonlyMap<string, TapStatistics>,
  path: string,
): { readonly stretches: number; readonly samples: number } {
  let bytes = 0;
  for (const { constant } of loadModel(path).graph.constants) bytes += constant?.byteLength ?? 0;
  let elements = 0;
  for (const tap of taps.values()) elements += elementsOfTap(tap);
  const samples = samplesWithin(SAMPLES_MS, elements, FEWEST_SAMPLES, MOST_SAMPLES);
  const eachMs = MS_PER_MODEL + bytes * MS_PER_WEIGHT_BYTE + samples * sampleMs(elements);
  return { samples, stretches: Math.min(MOST_STRETCHES, Math.floor(REFINING_MS / eachMs / (METHODS.length - 1))) };
}

/** Contiguous parts of nearly equal length; none empty. */
function cut<T>(all: readonly T[], parts: number): T[][] {
  const of = Math.min(parts, all.length);
  return Array.from({ length: of }, (_, i) =>
    all.slice(Math.floor((i * all.length) / of), Math.floor(((i + 1) * all.length) / of)),
  );
}

/** Samples to choose by and others to check with. Made-up and single samples serve as both. */
function split({ fit, largest, checks }: SamplesToChooseBy, samples: number): readonly [DatasetRef, DatasetRef] {
  const usual = fit.indices?.filter((index) => !largest.includes(index)) ?? [];
  if (usual.length < 2) return [fit, fit];
  const room = samples - largest.length;
  const parted = (by: readonly number[], held: readonly number[]): readonly [DatasetRef, DatasetRef] => [
    { ...fit, indices: [...by, ...largest] },
    { ...fit, indices: held },
  ];
  const others = checks?.indices?.filter((index) => !fit.indices!.includes(index)) ?? [];
  if (others.length > 0) return parted(spread(usual, room), spread(others, samples));
  const all = spread(usual, 2 * room);
  const half = (which: 0 | 1): number[] => all.filter((_, i) => i % 2 === which);
  return parted(half(0), half(1));
}

/**
 * Writes a linked copy of the model whose outputs are taken from before a last Softmax and its
 * like: behind it the error of a sample depends on whether two classes were close, which is chance.
 * Null where there is nothing of the kind.
 */
function unsquash(path: string, context: RunContext): string | null {
  const model = loadModel(path);
  const { graph } = model;
  const known = new Set(graph.outputs.map(({ value }) => value));
  let isChanged = false;
  for (const { name, value } of graph.outputs) {
    const before = beforeSquash(value);
    if (!before) continue;
    if (!known.has(before)) graph.addOutput(before.label, before);
    known.add(before);
    graph.removeOutput(name);
    removeWithFeeders(value.producer!);
    isChanged = true;
  }
  if (!isChanged) return null;
  const to = linkedFile(context, "unsquashed");
  linkModel(model, to);
  return to;
}
