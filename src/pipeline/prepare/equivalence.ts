/**
 * Whether a rewritten model still computes what the original does: both are run as
 * written, on samples where there are any and on seeded inputs of several shapes
 * otherwise, and every output is compared.
 */
import { rmSync, statSync } from "node:fs";
import { faultOf, type InferOptError, isFault } from "../../base/errors.js";
import type { Numerics } from "../../base/numerics.js";
import type { DatasetRef } from "../../dataset/index.js";
import { type DType, loadModel, type Model, nodesWithin, saveModel } from "../../ir/index.js";
import { alreadyQuantized } from "../../quantization/already-quantized.js";
import type { ModelSignature, OutputDifference, SessionOptions } from "../../runtime/port.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import {
  asDelivered,
  asWritten,
  despiteCrash,
  isKilled,
  MADE_UP_TIMEOUT_MS,
  scratchFile,
  untimedRoughly,
} from "../model-runs.js";
import { holdsHalf, weightBytes } from "./comparison-data.js";
import { type HalfVerdict, judgeHalf } from "./half-equivalence.js";

export interface Equivalence {
  readonly differences: readonly OutputDifference[];
  /** The first output that differs too much, in words; null when none does. */
  readonly violation: string | null;
  /** Whether the violation is that the runtime does not even open the model. */
  readonly isRefused?: boolean;
  /** What the runtime says of the original and the result alike where it opens them as they would be deployed; absent where it does open them. */
  readonly unopened?: string;
  /** Set when nothing could be compared, with the reason. */
  readonly unchecked: string | null;
  /** What it was compared on; null where it was not. */
  readonly data: DatasetRef | null;
}

/**
 * Largest difference of an output, relative to its largest magnitude, that another
 * order of rounding explains. Folding and fusing give about 1e-6 on deep networks.
 */
const ROUNDING = 1e-4;
/** The same for an output of a narrow type: its own last place at the largest value, which is all that it can tell. */
const NARROW_ROUNDING: Partial<Record<DType, number>> = { f16: 2 ** -10, bf16: 2 ** -7 };
/**
 * Where the model itself magnifies rounding: so many times what the runtime's own fusions cause, but never beyond this.
 * Of made-up inputs one never knows whether they are worse than others.
 */
const FLOOR_FACTOR = 10;
const LARGEST_ROUNDING = { samples: 1e-2, random: 1e-3 };
/** Where rounding alone moves an output by more than this of its largest value, it says nothing. */
const LARGEST_FLOOR = 1e-3;
/**
 * The same of models that compute in half precision, where their reading in float32 does not run. Their fusions round less
 * often, so that results move by more than what the runtime's own fusions cause, which leave most places alone: they say
 * nothing once those move them by half a unit.
 */
const HALF = { rounding: 2 ** -10, largest: { samples: 1e-2, random: 1e-2 }, floor: 2 ** -11 };
/** Share of integer results (class numbers, positions) that may flip where two candidates were as good as equal. */
const FLIPPED_SHARE = 1e-3;
/** What is approximated on request may move an output by that share of its largest value, and flip that share of integers. */
const LOSSY = 1e-2;

/** A rewritten graph that takes so much longer than the original will not end. */
const PATIENCE = { leastMs: 30_000, factor: 50 };

const overdue = ({ fields }: InferOptError): string =>
  `it does not end: stopped after ${Math.round(Number(fields["timeoutMs"]) / 1000)} s, more than ${PATIENCE.factor} times what the original takes`;

export interface EquivalenceCheck {
  readonly baseline: string;
  /** The file that the baseline stands for. */
  readonly original: string;
  readonly signature: ModelSignature;
  /** The first of these on which the baseline runs is compared on. */
  readonly data: readonly DatasetRef[];
  readonly numerics: Numerics;
  /** Whether to open it as it would be deployed too (see `isOpenedToo`). */
  readonly isOpened: boolean;
}

const MOST_OPENED_BYTES = 512 << 20;

/**
 * Whether a model is one that the runtime's own rewrites were seen to die of: between Casts, which stand in the file, or which it
 * puts around half precision. Opened with them, a model takes a multiple of its weights.
 */
export const isOpenedToo = (original: Model): boolean =>
  (holdsHalf(original) || [...nodesWithin(original.graph)].some((node) => node.is("Cast"))) &&
  weightBytes(original) <= MOST_OPENED_BYTES;

/** Throws only when the original itself cannot be run on the user's own samples. */
export async function checkEquivalence(
  candidate: string,
  check: EquivalenceCheck,
  config: RuntimeConfig,
  context: RunContext,
): Promise<Equivalence> {
  const { baseline } = check;
  const refused = async (as: typeof asWritten): Promise<Refusal | null> =>
    as === asDelivered && !check.isOpened ? null : refusalOf(candidate, baseline, as(config), context);
  let problem = "there is nothing to compare on";
  for (const data of check.data) {
    const compare: Compare = (a, b) =>
      context.runtime.compare({
        ...{ baseline: a, candidate: b, data, patience: PATIENCE },
        session: {
          ...untimedRoughly(config, asWritten),
          provider: "cpu",
          ...(data.random && { timeoutMs: MADE_UP_TIMEOUT_MS }),
        },
      });
    let differences: readonly OutputDifference[];
    try {
      // No rewrite is to blame for a crash that happens once.
      differences = await despiteCrash(() => compare(baseline, candidate));
    } catch (thrown) {
      if (!isFault(thrown)) throw thrown;
      if (thrown.code === "RUNTIME_TIMEOUT") {
        if (thrown.fields["isOverdue"] === true) {
          return { differences: [], violation: overdue(thrown), unchecked: null, data };
        }
        // The original has not ended, and would take as long on other inputs.
        if (!data.random) throw thrown;
        problem = thrown.message;
        break;
      }
      // Whose fault is it? The original against itself tells.
      const own = await faultOf(() => compare(baseline, baseline));
      if (!own) {
        const isRefused = thrown.code === "MODEL_REJECTED";
        const violation = `it does not ${isRefused ? "load" : "run"}: ${thrown.message}`;
        return { differences: [], violation, isRefused, unchecked: null, data };
      }
      if (!data.random) throw own;
      // What came out where it did run says more.
      if (problem !== NOISE) problem = own.message;
      continue;
    }
    if (differences.length > 0 && differences.every(isNothingButNan)) {
      problem = data.random ? NOT_NUMBERS : "all that comes out for the samples is NaN";
      if (data.random) continue;
      return { differences, violation: null, unchecked: problem, data };
    }
    const judged = await judge(candidate, differences, check, compare, config, context);
    if (!judged.isNoise || !data.random) return { ...(await asItOpens(judged, () => refused(asDelivered))), data };
    problem = NOISE;
  }
  const unloadable = [await refused(asWritten), await refused(asDelivered)].find((refusal) => refusal?.isNew);
  return {
    differences: [],
    violation: unloadable ? `it does not load: ${unloadable.reason}` : null,
    isRefused: unloadable !== undefined,
    unchecked: unloadable
      ? null
      : problem === NOISE || problem === NOT_NUMBERS
        ? problem
        : `the original does not run on made-up inputs (${problem})`,
    data: check.data.at(-1)!,
  };
}

/**
 * Right as it is written, a graph may still be one that the runtime's own rewrites make nothing of, or die of: whoever gets the
 * file could not open it.
 */
async function asItOpens(
  judged: Omit<Equivalence, "data">,
  opening: () => Promise<Refusal | null>,
): Promise<Omit<Equivalence, "data">> {
  const refusal = judged.violation === null ? await opening() : null;
  if (!refusal) return judged;
  if (!refusal.isNew) return { ...judged, unopened: refusal.reason };
  return { ...judged, violation: `it does not load: ${refusal.reason}`, isRefused: true };
}

interface Refusal {
  readonly reason: string;
  /** Whether the runtime opens the original. */
  readonly isNew: boolean;
}

/** Why the runtime refuses the candidate, or dies of it; null where it opens it: that much is known without any inputs. */
async function refusalOf(
  candidate: string,
  baseline: string,
  session: SessionOptions,
  { runtime }: RunContext,
): Promise<Refusal | null> {
  const opening = (model: string) =>
    faultOf(() => despiteCrash(() => runtime.describe(model, { ...session, provider: "cpu" }, { isRough: true })));
  const fault = await opening(candidate);
  const isRefusal = fault?.code === "MODEL_REJECTED" || (fault?.code === "RUNTIME_CRASHED" && !isKilled(fault));
  return isRefusal ? { reason: fault.message, isNew: (await opening(baseline)) === null } : null;
}

const isNothingButNan = ({ elements, nanOnBoth }: OutputDifference): boolean => elements > 0 && nanOnBoth === elements;

const NOISE = "on made-up inputs its outputs are little more than rounding";
const NOT_NUMBERS = "all that comes out on made-up inputs is NaN";

type Compare = (a: string, b: string) => Promise<readonly OutputDifference[]>;

async function judge(
  candidate: string,
  differences: readonly OutputDifference[],
  check: EquivalenceCheck,
  compare: Compare,
  config: RuntimeConfig,
  context: RunContext,
): Promise<Omit<Equivalence, "data"> & { readonly isNoise?: boolean }> {
  const { baseline, original, numerics } = check;
  const violated = (allowed: (output: string) => number): string | null =>
    differences.map((d) => violationOf(d, check, allowed(d.output))).find((v) => v !== null) ?? null;
  const usual =
    (rounding: number) =>
    (output: string): number =>
      numerics === "lossy" ? LOSSY : Math.max(NARROW_ROUNDING[dtypeOf(output, check) ?? "f32"] ?? 0, rounding);
  if (violated(usual(ROUNDING)) === null) return { differences, violation: null, unchecked: null };
  const source = loadModel(original);
  const isHalf = holdsHalf(source);
  if (isHalf && numerics !== "exact") {
    const found = await inHalf(candidate, check, compare, context);
    if (found) return { ...found, differences, unchecked: found.isNoise ? NOISE : null };
  }
  const limits = isHalf ? HALF : { rounding: ROUNDING, largest: LARGEST_ROUNDING, floor: LARGEST_FLOOR };
  const isMadeUp = check.data[0]?.random !== undefined;
  const moved = (level: Level) => movedBy(level, original, source, compare, context, config);
  const basic = numerics === "exact" ? [] : await moved("basic");
  const isNoise = basic.some((difference) => relativeOf(difference) > limits.floor);
  // Of numbers that are made up others can be tried; a sample is as it is.
  if (isNoise && isMadeUp) return { differences, violation: null, unchecked: NOISE, isNoise };
  if (!(await isDeterministic(baseline, compare))) {
    return { differences, violation: null, unchecked: "the original gives other answers each time it runs" };
  }
  const largest = limits.largest[isMadeUp ? "random" : "samples"];
  const violationBeside = (floor: readonly OutputDifference[]): string | null =>
    violated((output) => {
      const own = floor.find((difference) => difference.output === output);
      const rounding = own ? Math.min(largest, FLOOR_FACTOR * relativeOf(own)) : 0;
      return Math.max(usual(limits.rounding)(output), rounding);
    });
  const violation = violationBeside(basic);
  // Beyond the basic level the runtime makes other sums of integers and of half precision: those are no last bits.
  const isDeployedAlike = numerics === "rounding" && !isMadeUp && !isHalf && alreadyQuantized(source) === null;
  if (violation === null || !isDeployedAlike) return { differences, violation, unchecked: null };
  const all = await moved("all");
  // One of the runtime's own fusions that is wrong says nothing of rounding.
  const isWrong = all.some((each) => each.mismatch !== null || each.nanMismatch > 0 || relativeOf(each) > largest);
  return { differences, violation: isWrong ? violation : violationBeside(all), unchecked: null };
}

/** Held against the original read in float32; null where that does not run. */
async function inHalf(
  candidate: string,
  check: EquivalenceCheck,
  compare: Compare,
  context: RunContext,
): Promise<HalfVerdict | null> {
  const { baseline, original, numerics } = check;
  const half = { candidate, baseline, original, allowed: numerics === "lossy" ? LOSSY : HALF.rounding };
  try {
    return await judgeHalf({ ...half, dtypeOf: (output) => dtypeOf(output, check) ?? null }, compare, context);
  } catch (thrown) {
    if (!isFault(thrown)) throw thrown;
    return null;
  }
}

type Level = SessionOptions["optimization"];

/** By how much of an output's largest magnitude it moved. */
export const relativeOf = ({ maxAbs, maxMagnitude }: OutputDifference): number => maxAbs / maxMagnitude || 0;

/**
 * How far each output moves when nothing but rounding changes: the original against what the runtime's own fusions
 * make of it. Some models, or inputs they never saw in training, magnify the last bit a thousandfold. The basic ones tell;
 * on samples, which no others stand in for, so does what is deployed: one softmax between two answers is as good as a coin.
 */
async function movedBy(
  optimization: Level,
  original: string,
  source: Model,
  compare: Compare,
  context: RunContext,
  config: RuntimeConfig,
): Promise<readonly OutputDifference[]> {
  const fused = scratchFile(context, "reference");
  const whole = scratchFile(context, "original");
  try {
    // References to files beside it would lead nowhere from where the runtime writes it.
    const isCopied = isApart(original, source);
    if (isCopied) saveModel(source, whole, { isScratch: true }).commit();
    const session = { ...asWritten(config), provider: "cpu", optimization };
    await context.runtime.describe(isCopied ? whole : original, session, { saveOptimizedTo: fused });
    return await compare(original, fused);
  } catch (thrown) {
    // Some models the runtime cannot write (beyond 2 GB, for one): then nothing more than usual is allowed.
    if (!isFault(thrown)) throw thrown;
    return [];
  } finally {
    for (const path of [fused, whole]) rmSync(path, { force: true });
  }
}

/** Whether weights are in files of their own, and few enough to be written once more. */
function isApart(path: string, model: Model): boolean {
  const bytes = weightBytes(model);
  return bytes > statSync(path).size && bytes <= MOST_OPENED_BYTES;
}

async function isDeterministic(model: string, compare: Compare): Promise<boolean> {
  return (await compare(model, model)).every(({ differing, mismatch }) => differing === 0 && mismatch === null);
}

const dtypeOf = (output: string, { signature }: EquivalenceCheck) =>
  signature.outputs.find(({ name }) => name === output)?.dtype;

function violationOf(difference: OutputDifference, check: EquivalenceCheck, allowed: number): string | null {
  const { output, maxAbs, maxMagnitude, differing, elements, nanMismatch, mismatch } = difference;
  if (mismatch) return `output ${output}: ${mismatch}`;
  if (nanMismatch > 0) return `output ${output}: ${nanMismatch} elements are NaN on one side only`;
  if (differing === 0) return null;
  if (check.numerics === "exact") {
    return `output ${output}: ${differing} of ${elements} elements differ, by up to ${maxAbs}`;
  }
  const dtype = dtypeOf(output, check);
  if (dtype === "f32" || dtype === "f64" || dtype === "f16" || dtype === "bf16" || dtype == null) {
    const relative = maxAbs / Math.max(maxMagnitude, Number.MIN_VALUE);
    return relative <= allowed ? null : `output ${output}: off by ${relative.toExponential(1)} of its largest value`;
  }
  const flips = check.numerics === "lossy" ? LOSSY : FLIPPED_SHARE;
  return differing / elements <= flips ? null : `output ${output}: ${differing} of ${elements} elements differ`;
}
