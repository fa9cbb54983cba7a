/**
 * Samples whose answers are the largest, to judge candidates by besides the trial's. What clipping does shows on them
 * alone, and the few of a trial may be all of the usual kind: of three ResNet-50, percentile ranges were 0.5 dB better on most
 * samples and 2 to 13 dB worse on one in fifteen, which is 1 to 3 dB of all samples together.
 */
import type { DatasetRef } from "../dataset/index.js";
import { isFloat, loadModel } from "../ir/index.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { beforeSquash, type FloatAnswers } from "./float-answers.js";
import { asDelivered, untimed } from "./model-runs.js";

const MOST_ADDED = 2;

/**
 * The trial, and behind it those of the fitted samples whose kept answers have the most energy. As it is where nothing is
 * fitted, or where a Softmax or its like makes all answers of one size.
 * @param prepared the float model that the answers are of
 */
export async function withLargestAnswers(
  trial: DatasetRef,
  { fitted, path }: FloatAnswers,
  prepared: string,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<DatasetRef> {
  const isSized = loadModel(prepared).graph.outputs.every(({ value }) => beforeSquash(value) === null);
  if (!fitted?.indices || !trial.indices || !isSized) return trial;
  const { indices } = fitted;
  const energies = await energiesOf(fitted, path, prepared, runtime, context);
  const known = [...energies.keys()].filter((sample) => !Number.isNaN(energies[sample]!));
  const largest = known.sort((a, b) => energies[b]! - energies[a]!).slice(0, MOST_ADDED);
  return { ...trial, indices: [...trial.indices, ...largest.map((sample) => indices[sample]!)] };
}

/** One a sample, of all float outputs; none where no output is float. */
async function energiesOf(
  data: DatasetRef,
  answers: string,
  prepared: string,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<Float64Array> {
  const { outputs } = loadModel(prepared).graph;
  if (!outputs.some(({ value }) => value.dtype && isFloat(value.dtype))) return new Float64Array();
  const { energies } = await context.runtime.score({
    models: [prepared],
    ...{ data, answers },
    metric: { kind: "builtin", name: "sqnr" },
    session: untimed(asDelivered(runtime)),
    ...{ isInTurn: true, withEnergies: true },
  });
  return energies!;
}
