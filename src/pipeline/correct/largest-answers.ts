/**
 * Samples whose answers are the largest, to judge candidates by besides the trial's. What clipping does shows on them
 * alone, and the few of a trial may be all of the usual kind: of three ResNet-50, percentile ranges were 0.5 dB better on most
 * samples and 2 to 13 dB worse on one in fifteen, which is 1 to 3 dB of all samples together.
 */
import { isFloat, loadModel } from "../../ir/index.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { untimed } from "../model-runs.js";
import { beforeSquash } from "./float-answers.js";

const MOST_ADDED = 2;

/**
 * Those of the fitted samples whose kept answers have the most energy. None where nothing is fitted, where no answer is
 * float, or where a Softmax or its like makes them of one size.
 * @param prepared the float model that the answers are of
 */
export async function largestAnswers(
  { fitted, path }: FloatAnswers,
  prepared: string,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<readonly number[]> {
  const { outputs } = loadModel(prepared).graph;
  const isFloating = outputs.some(({ value }) => value.dtype && isFloat(value.dtype));
  const isSquashed = outputs.some(({ value }) => beforeSquash(value) !== null);
  if (!fitted?.indices || !isFloating || isSquashed) return [];
  const { energies } = await context.runtime.score({
    models: [prepared],
    ...{ data: fitted, answers: path },
    metric: { kind: "builtin", name: "sqnr" },
    session: untimed(runtime),
    ...{ isInTurn: true, withEnergies: true },
  });
  const known = fitted.indices.map((index, sample) => ({ index, energy: energies![sample]! }));
  known.sort((a, b) => descending(a.energy, b.energy));
  return known.slice(0, MOST_ADDED).map(({ index }) => index);
}

/** Of float64 answers beyond 1e154 the energies are infinite, and alike. */
const descending = (a: number, b: number): number => (a === b ? 0 : b - a);
