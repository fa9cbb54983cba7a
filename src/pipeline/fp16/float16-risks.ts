/** Runs the float model on a few samples to find the nodes that float16 would harm (see passes/precision/measured-risks.ts). */
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, type Model } from "../../ir/index.js";
import { finiteCount, type TapStatistics } from "../../observe/index.js";
import { measuredRisks, type ValueRange } from "../../passes/precision/measured-risks.js";
import { observeValues } from "../calibrate/calibration.js";
import type { RuntimeConfig } from "../config.js";
import { linkedFile, removeLinked } from "../model-runs.js";
import { onFirstThatRuns } from "../prepare/comparison-data.js";
import type { RunRecord } from "../run-record.js";

/**
 * The reason for each node of the main graph that should stay in float32, by its name. The
 * first of `data` that the model runs on is looked at; when there is none, a warning says so.
 * @param model with distinct labels, and types on its values
 */
export async function float16Risks(
  model: Model,
  data: readonly DatasetRef[],
  runtime: RuntimeConfig,
  record: RunRecord,
): Promise<ReadonlyMap<string, string>> {
  const { context } = record;
  const made = [...model.graph.nodes()].flatMap((node) => node.outputs.filter((value) => value !== null));
  const labels = [...model.graph.inputs, ...made].filter(({ dtype }) => dtype === "f32").map(({ label }) => label);
  const prepared = linkedFile(context, "float");
  linkModel(model, prepared);
  try {
    const tried = await onFirstThatRuns(data, (each) =>
      observeValues(labels, { prepared, data: each, runtime, onProgress: record.progress }, context),
    );
    if ("problem" in tried) {
      const why = `the model does not run on made-up inputs (${tried.problem.message})`;
      record.warn(`the ranges of values are not known: ${why}`);
      return new Map();
    }
    const ranges = new Map([...tried.result].map(([label, tap]) => [label, rangeOf(tap)]));
    return new Map([...measuredRisks(model, ranges)].map(([node, reason]) => [node.displayName, reason]));
  } finally {
    removeLinked(prepared);
  }
}

const rangeOf = (tap: TapStatistics): ValueRange => ({ min: tap.min, max: tap.max, count: finiteCount(tap) });
