/** `calibrate`: the statistics alone, whole or as one part of many, and the joining of parts. */
import { collectGarbage } from "../../base/collect-garbage.js";
import { InferOptError } from "../../base/errors.js";
import { replaceFile } from "../../base/replace-file.js";
import {
  type DatasetRef,
  datasetDigest,
  type InputSpec,
  openDataset,
  openDatasetRef,
  storedSizes,
} from "../../dataset/index.js";
import { mergeTaps, type TapStatistics } from "../../observe/index.js";
import { isDiskFull, isSystemError, outputFailed, refuseSpecialFile } from "../../onnx/index.js";
import { activationsOf } from "../../quantization/insert-qdq.js";
import { planStatic } from "../../quantization/plan-static.js";
import { mergeRanges, type RangesFile, rangesOf, readRanges } from "../../quantization/ranges-file.js";
import { LEAST_OPSET } from "../../quantization/recipe.js";
import { integerTarget, integerTargetNamed } from "../../target/integer-kernels.js";
import type { FuseConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { requireCalibration, takeIn } from "../intake.js";
import { modelDigest } from "../model-facts.js";
import { prepareModel } from "../prepare/prepare.js";
import { requestOf } from "../prepare/prepare-request.js";
import type { RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import { type CalibrationRequest, observeActivations, rangesRecipe, widestPlacement } from "./calibration.js";
import { calibrationFacts } from "./calibration-facts.js";
import { CalibrationJournal, type JournalState } from "./calibration-journal.js";
import { unusableStatistics } from "./unusable-statistics.js";

export interface CalibrateConfig extends FuseConfig {
  /** Part `index` of `of`, counted from 1; null for all samples. */
  readonly shard: { readonly index: number; readonly of: number } | null;
}

/** Writes a ranges file to `config.out.output`. */
export async function runCalibrate(config: CalibrateConfig, context: RunContext): Promise<RunResult> {
  const record = new RunRecord("calibrate", context);
  requireCalibration(config.data.calibration !== null);
  const intake = await record.stage("load", () => takeIn(config, record));
  const path = config.data.calibration!;
  const { store } = intake.fit!.ref;
  const ref = { ...(await shardOf(path, config.shard, intake.signature.inputs)), ...(store && { store }) };
  const prepared = await record.stage("fuse", () =>
    prepareModel(requestOf(config, intake, "prepare", LEAST_OPSET.static), context),
  );
  record.warn(...prepared.warnings);
  const here = integerTarget(config.runtime.provider, process.arch, context.environment.flags);
  const target = integerTargetNamed(config.graph.target, here);
  const dataset = await openDatasetRef({ path, ...(store && { store }) }, intake.signature.inputs);
  const part = {
    index: config.shard?.index ?? 1,
    of: config.shard?.of ?? 1,
    data: await datasetDigest(dataset, ref.indices),
    whole: intake.fit!.digest,
    samples: ref.indices!.length,
  };
  const recipe = rangesRecipe(context.toolVersion);
  const output = config.out.output;
  const graph = Object.entries(config.graph).map(([key, value]) => [key, value instanceof Map ? [...value] : value]);
  const identity = JSON.stringify([modelDigest(intake.facts), recipe, graph, part]);
  const journal = output === null ? null : new CalibrationJournal(output, identity);
  const taps = await record.stage(
    "calibrate",
    () => observeInSteps({ prepared: prepared.path, target, data: ref, runtime: config.runtime }, journal, record),
    samplesOf(part),
  );
  const unusable = unusableStatistics(taps, path);
  if (unusable !== null) record.warn(unusable);
  if (taps.size === 0) record.warn("no node of the model can become static integers: the file holds no ranges");
  const file = rangesOf(
    { tool: context.toolVersion, model: modelDigest(intake.facts), recipe, parts: [part] },
    new Map([...taps].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  if (output !== null) writeRanges(file, output);
  journal?.remove();
  const summary = `${taps.size} tensors over ${samplesOf(part)}${config.shard ? `, part ${part.index} of ${part.of}` : ""}${output === null ? "" : ` -> ${output}`}`;
  return record.result({
    model: intake.facts,
    passes: prepared.passes,
    unfused: prepared.unfused,
    calibration: calibrationFacts(activationsOf(planStatic(prepared.model, target, widestPlacement)), taps, () => null),
    verdict: { status: "pass", outcome: "met", reasons: [], summary },
  });
}

const samplesOf = ({ samples }: { readonly samples: number }): string =>
  samples === 1 ? "1 sample" : `${samples} samples`;

/** The first samples come with the risk that the command is given up soon; later each start of a process weighs more. */
const [FIRST_STEP, LONGEST_STEP] = [16, 1024];

/** Observes all samples, writing down after each step what was seen so far. */
async function observeInSteps(
  request: Omit<CalibrationRequest, "onProgress">,
  journal: CalibrationJournal | null,
  record: RunRecord,
): Promise<ReadonlyMap<string, TapStatistics>> {
  const indices = request.data.indices!;
  const known = journal?.read() ?? "none";
  if (known === "foreign")
    record.warn(`${journal!.path} is of another model, data or version: all samples are observed anew`);
  if (known === "unreadable") record.warn(`${journal!.path} cannot be read: all samples are observed anew`);
  let { done, taps }: JournalState = typeof known === "string" ? { done: 0, taps: new Map() } : known;
  if (done > 0) record.warn(`${done} of ${indices.length} samples were observed before the last run was interrupted`);
  let isKept = journal !== null;
  const { store } = request.data;
  const sizeOf = store ? storedSizes(store) : () => 0;
  for (let step = FIRST_STEP; done < indices.length; step = Math.min(2 * step, LONGEST_STEP)) {
    const next = largestFirst(indices.slice(done, journal ? done + step : indices.length), sizeOf);
    const before = done;
    const seen = await observeActivations(
      {
        ...request,
        data: { ...request.data, indices: next },
        onProgress: (part, total) => record.progress(before + Math.floor((part * next.length) / total), indices.length),
      },
      record.context,
    ).catch((cause: unknown) => {
      const mayGoOn = isKept && before > 0 && record.context.signal.aborted;
      throw mayGoOn ? interruptedAt(before, journal!.path, cause) : cause;
    });
    taps = new Map([...seen].map(([name, tap]) => [name, taps.has(name) ? mergeTaps(taps.get(name)!, tap) : tap]));
    done += next.length;
    if (done < indices.length && isKept) isKept = wasKept(journal!, { done, taps }, record);
    // As large as the statistics several times over, and a run of many samples has many steps.
    collectGarbage();
  }
  return taps;
}

/** A journal that there is no room for takes none from the ranges; one that cannot be written for another reason holds what it held. */
function wasKept(journal: CalibrationJournal, state: JournalState, record: RunRecord): boolean {
  try {
    journal.write(state);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof InferOptError)) throw thrown;
    const isFull = isDiskFull(thrown);
    if (isFull) journal.remove();
    const where = isFull ? "" : ", or where the journal was last written";
    record.warn(`${thrown.message}: a run that is interrupted starts over${where}`);
    return false;
  }
}

/**
 * Statistics are the same in any order. Small activations leave holes in a process's memory that larger ones after them do not fit
 * into, which took a tenth more of it.
 */
const largestFirst = (indices: readonly number[], sizeOf: (index: number) => number): readonly number[] =>
  [...indices].sort((a, b) => sizeOf(b) - sizeOf(a));

const interruptedAt = (done: number, journal: string, cause: unknown): InferOptError =>
  new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", {
    hint: `Run the same command again to go on where it was: ${journal} holds what was seen of ${done} samples.`,
    cause,
    fields: { journal },
  });

/** Joins the ranges files of all parts into one, the same as one run over all samples. */
export function mergeRangesFiles(paths: readonly string[], output: string): RangesFile {
  const merged = mergeRanges(paths.map(readRanges));
  writeRanges(merged, output);
  return merged;
}

/** Samples i with i mod `of` = index - 1: parts of equal size, whatever the order of the data. */
async function shardOf(
  path: string,
  shard: CalibrateConfig["shard"],
  inputs: readonly InputSpec[],
): Promise<DatasetRef> {
  const { count } = await openDataset(path, { signature: inputs });
  const all = Array.from({ length: count }, (_, i) => i);
  if (!shard) return { path, indices: all };
  const indices = all.filter((i) => i % shard.of === shard.index - 1);
  if (indices.length > 0) return { path, indices };
  throw new InferOptError(
    "SHARD_EMPTY",
    "input",
    `part ${shard.index} of ${shard.of} of ${path} holds no samples: there are ${count}`,
    {
      hint: `Use at most ${count} parts.`,
      fields: { path, count, of: shard.of },
    },
  );
}

function writeRanges(file: RangesFile, path: string): void {
  try {
    refuseSpecialFile(path, path);
    replaceFile(path, `${JSON.stringify(file)}\n`);
  } catch (cause) {
    throw isSystemError(cause) ? outputFailed(path, cause) : cause;
  }
}
