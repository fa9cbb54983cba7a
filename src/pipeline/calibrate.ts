/** `calibrate`: the statistics alone, whole or as one part of many, and the joining of parts. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { InferOptError } from "../base/errors.js";
import { type DatasetRef, datasetDigest, type InputSpec, openDataset } from "../dataset/index.js";
import { outputFailed } from "../onnx/index.js";
import { mergeRanges, type RangesFile, rangesOf, readRanges } from "../quantization/ranges-file.js";
import { integerTarget, integerTargetNamed } from "../target/integer-kernels.js";
import { observeActivations, rangesRecipe } from "./calibration.js";
import type { FuseConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { requireCalibration, takeIn } from "./intake.js";
import { prepareModel } from "./prepare.js";
import type { RunResult } from "./result.js";
import { RunRecord } from "./run-record.js";

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
  const ref = await shardOf(path, config.shard, intake.signature.inputs);
  const prepared = await record.stage("fuse", () =>
    prepareModel(
      {
        model: config.model,
        recipe: "fuse",
        signature: intake.signature,
        data: intake.trial,
        graph: config.graph,
        runtime: config.runtime,
        minOpset: 13,
      },
      context,
    ),
  );
  record.warn(...prepared.warnings);
  const here = integerTarget(config.runtime.provider, process.arch, context.environment.flags);
  const target = integerTargetNamed(config.graph.target, here);
  const taps = await record.stage(
    "calibrate",
    () =>
      observeActivations(
        { prepared: prepared.path, target, data: ref, runtime: config.runtime, onProgress: record.progress },
        context,
      ),
    `${ref.indices!.length} samples`,
  );
  const dataset = await openDataset(path, { signature: intake.signature.inputs });
  const part = {
    index: config.shard?.index ?? 1,
    of: config.shard?.of ?? 1,
    data: await datasetDigest(dataset, ref.indices),
    samples: ref.indices!.length,
  };
  const file = rangesOf(
    { tool: context.toolVersion, model: intake.facts.sha256, recipe: rangesRecipe(context.toolVersion), parts: [part] },
    new Map([...taps].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  if (config.out.output !== null) writeRanges(file, config.out.output);
  const summary = `${taps.size} tensors over ${part.samples} samples${config.shard ? `, part ${part.index} of ${part.of}` : ""}`;
  return record.result({
    model: intake.facts,
    passes: prepared.passes,
    unfused: prepared.unfused,
    verdict: { status: "pass", outcome: "met", reasons: [], summary },
  });
}

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
  const partial = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(partial, `${JSON.stringify(file)}\n`);
    renameSync(partial, path);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw outputFailed(path, cause);
  }
}
