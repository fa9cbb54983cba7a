/** The statistics that static quantization needs: from a ranges file, or by running the calibration samples. */
import { setImmediate } from "node:timers/promises";
import { InferOptError } from "../../base/errors.js";
import { spread } from "../../base/spread.js";
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import type { KeptIntegers } from "../../quantization/kept-integers.js";
import { readRanges, tapsOf } from "../../quantization/ranges-file.js";
import { keepStaticWeights } from "../../quantization/static-weight.js";
import type { KeepOfSamples } from "../../runtime/port.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { Intake } from "../intake.js";
import { modelDigest } from "../model-facts.js";
import { asDelivered, asWritten, linkedFile, removeLinked, untimed } from "../model-runs.js";
import { type RunRecord, refuseInterrupted } from "../run-record.js";
import { groupTaps, type TapGroup } from "../tap-groups.js";
import { type FloatAnswers, LEAST_OBSERVED } from "./kept-answers.js";
import { missingRanges } from "./missing-ranges.js";
import { activationLabels, observedInstead, writeTapModel } from "./write-taps.js";

export interface ObserveRequest {
  /** A model whose values have distinct labels. */
  readonly prepared: string;
  readonly data: DatasetRef;
  readonly runtime: RuntimeConfig;
  readonly onProgress: (done: number, total: number) => void;
  /** As many samples, spread over the data, as say what ranges are; all of them when absent. */
  readonly isBrief?: boolean;
  /** What is kept of the samples besides; these are among those looked at, or run for it alone. */
  readonly answers?: FloatAnswers;
  /** What this process does as long as another runs the samples, once. */
  readonly meanwhile?: () => void;
}

/**
 * Ranges of a tensor settle with the elements seen, and with the samples that these come from. So many
 * samples are looked at, and more as long as all that is observed of them takes no more than so much.
 */
const OBSERVED_BYTES = 2 ** 29;

export interface CalibrationRequest extends ObserveRequest {
  readonly target: IntegerTarget;
  /** Nodes that will be float in any case, with the reason. */
  readonly keepFloat?: ReadonlyMap<string, string>;
  /** Gets the integers of weights, which are made while the samples run. */
  readonly kept?: KeptIntegers;
}

/** Every tensor that any placement may quantize, so that all of them choose from one run. */
export const widestPlacement = { neighbours: true, depthwise: true } as const;

/** Statistics by value label of all that static quantization may want to know; empty when there is nothing to quantize so. */
export function observeActivations(
  request: CalibrationRequest,
  context: RunContext,
): Promise<ReadonlyMap<string, TapStatistics>> {
  const { prepared, target, keepFloat, kept } = request;
  const placement = { ...widestPlacement, ...(keepFloat && { keepFloat }) };
  const meanwhile = kept && (() => keepStaticWeights(loadModel(prepared), target, placement, kept));
  const labels = activationLabels(prepared, target, placement);
  return observeValues(labels, { ...request, ...(meanwhile && { meanwhile }) }, context);
}

/**
 * Statistics by value label. Of all samples they do not show how the tensors were grouped to save memory, nor who asked:
 * nothing is fused or reordered. Of a part of them, which nobody else looks at, the runtime does both where there is one
 * group: it takes a tenth to a third less time.
 */
export async function observeValues(
  labels: readonly string[],
  { prepared, data: given, runtime, onProgress, isBrief = false, answers, meanwhile }: ObserveRequest,
  context: RunContext,
): Promise<ReadonlyMap<string, TapStatistics>> {
  if (labels.length === 0 && !answers) return new Map();
  const sources = observedInstead(prepared, labels);
  const groups = await groupTaps(prepared, [...new Set(sources.values())], given, runtime, context);
  const data = isBrief ? enoughOf(given, groups, answers) : given;
  const seen = new Map<string, TapStatistics>();
  // What is kept takes all of the model: with one group there is no other run.
  const runs = answers && groups.length !== 1 ? [...groups, { labels: [], bytes: 0 }] : groups;
  const isPart = (data.indices?.length ?? 0) < (given.indices?.length ?? 0);
  const as = isPart && runs.length === 1 ? asDelivered : asWritten;
  for (const [index, group] of runs.entries()) {
    refuseInterrupted(context.signal);
    const path = linkedFile(context, "taps");
    const kept = index === runs.length - 1 ? answers : undefined;
    const names = writeTapModel(prepared, labelsOf(group, kept), path);
    try {
      const observing = context.runtime.observe({
        model: path,
        data,
        taps: group.labels.map((label) => names.get(label)!),
        heldBytes: group.bytes,
        isBrief,
        session: { ...untimed(runtime, as), provider: "cpu" },
        ...(kept && { keep: keepOf(kept, names, data) }),
        onProgress: (done, total) => onProgress(index * total + done, runs.length * total),
      });
      if (index === 0 && meanwhile) await besides(observing, meanwhile);
      const observed = await observing;
      for (const label of group.labels) seen.set(label, observed.get(names.get(label)!)!);
    } finally {
      removeLinked(path);
    }
  }
  return new Map(labels.map((label) => [label, { ...seen.get(sources.get(label)!)!, name: label }]));
}

/** Does one thing while another is under way, and leaves it to whoever waits for that to say what went wrong with it. */
async function besides(underWay: Promise<unknown>, work: () => void): Promise<void> {
  underWay.catch(() => undefined);
  await setImmediate();
  try {
    work();
  } catch (thrown) {
    await Promise.allSettled([underWay]);
    throw thrown;
  }
}

const labelsOf = ({ labels }: TapGroup, kept: FloatAnswers | undefined): readonly string[] => [
  ...new Set([...labels, ...(kept ? [...kept.labels, ...kept.moments.axes.keys()] : [])]),
];

/** @param names of the outputs that tell values, by their labels */
function keepOf(
  { path, labels, moments, aside }: FloatAnswers,
  names: ReadonlyMap<string, string>,
  { indices = [] }: DatasetRef,
): KeepOfSamples {
  const axes = new Map([...moments.axes].map(([label, axis]) => [names.get(label)!, axis] as const));
  const positionsOf = (wanted: readonly number[]): number[] =>
    indices.flatMap((index, position) => (wanted.includes(index) ? [position] : []));
  return {
    answers: { path, outputs: labels.map((label) => names.get(label)!) },
    aside: positionsOf(aside),
    moments: { path: moments.path, axes, positions: positionsOf(moments.indices) },
  };
}

function enoughOf(data: DatasetRef, groups: readonly TapGroup[], answers: FloatAnswers | undefined): DatasetRef {
  if (!data.indices) return data;
  const each = groups.reduce((sum, { bytes }) => sum + bytes, 0);
  const { aside = [], indices: sure = [] } = answers ?? {};
  const most = Math.max(LEAST_OBSERVED + aside.length, Math.floor(OBSERVED_BYTES / Math.max(1, each)));
  const others = data.indices.filter((index) => !sure.includes(index));
  const indices = [...sure, ...spread(others, Math.max(0, most - sure.length))];
  return { ...data, indices: indices.sort((a, b) => a - b) };
}

/** What tensors are called depends on the passes: ranges hold for one version of this recipe. */
export const rangesRecipe = (toolVersion: string): string => `fuse ${toolVersion}`;

/**
 * Of a file, with a warning where tensors are missing, and where the samples that judge are among its own. Throws RANGES_FOREIGN when it belongs to another model or was made by
 * another version, RANGES_PARTS when parts are missing, RANGES_MISSING where it has nothing of use.
 */
export function loadRanges(
  path: string,
  { facts, evaluationDigest }: Pick<Intake, "facts" | "evaluationDigest">,
  { prepared, target }: Pick<CalibrationRequest, "prepared" | "target">,
  record: Pick<RunRecord, "context" | "warn">,
): ReadonlyMap<string, TapStatistics> {
  const modelSha256 = modelDigest(facts);
  const file = readRanges(path);
  const { toolVersion } = record.context;
  if (file.model !== modelSha256 || file.recipe !== rangesRecipe(toolVersion)) {
    const why = file.model === modelSha256 ? `by version ${file.tool}` : "on another model file";
    throw new InferOptError("RANGES_FOREIGN", "input", `the ranges ${path} were calibrated ${why}`, {
      hint: "Calibrate this model again with `infer-opt calibrate`; ranges of other weights ruin accuracy.",
      fields: { path, model: file.model, wanted: modelSha256 },
    });
  }
  const [part] = file.parts;
  if (file.parts.length < (part?.of ?? 1)) {
    throw new InferOptError(
      "RANGES_PARTS",
      "input",
      `${path} holds ${file.parts.length} of ${part!.of} parts of a calibration`,
      {
        hint: "Join all parts first: `infer-opt calibrate --merge PART... -o RANGES`.",
        fields: { path, parts: file.parts.length, of: part!.of },
      },
    );
  }
  const taps = tapsOf(file);
  const missing = missingRanges(path, new Set(taps.keys()), activationLabels(prepared, target, widestPlacement));
  if (missing !== null) record.warn(missing);
  if (evaluationDigest !== null && evaluationDigest === (part?.whole ?? part?.data)) {
    record.warn(
      `the ranges ${path} are of the data that accuracy is judged by too: accuracy looks better than it is; give other samples with --eval`,
    );
  }
  return taps;
}
