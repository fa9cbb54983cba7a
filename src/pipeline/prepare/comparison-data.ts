/** On what a rewritten graph is compared with the original. */
import { type InferOptError, invariant, isFault } from "../../base/errors.js";
import type { DatasetRef, OpenSizes } from "../../dataset/index.js";
import { dtypeOfCode, graphsWithin, type Model, nodesWithin, type Value } from "../../ir/index.js";
import { isHalfType } from "../../rewrite/index.js";
import type { ModelSignature } from "../../runtime/port.js";
import type { RuntimeConfig, VerifyLevel } from "../config.js";
import { randomInputs } from "../evaluation-data.js";
import { meaningfulValues } from "./meaningful-values.js";

/** Samples of the user's that are compared; a wrong rewrite shows on the first already. */
const SAMPLES: Readonly<Record<VerifyLevel, number>> = { none: 0, fast: 2, full: 64 };
/** Made-up inputs: each has other sizes than the one before. */
const MADE_UP: Readonly<Record<VerifyLevel, number>> = { none: 0, fast: 2, full: 6 };

/**
 * The first of these on which the original runs and says something is the one to compare on:
 * the user's samples, or made-up inputs, of which some models want large ones, a batch of one, or empty caches.
 */
export const comparisonData = (
  trial: DatasetRef,
  signature: Pick<ModelSignature, "inputs">,
  model: Model,
  level: VerifyLevel,
  config: RuntimeConfig,
): readonly DatasetRef[] => dataToCompare(model, level, config)(trial, signature);

/** The same in two steps: the model may be changed before the rest is known. */
export function dataToCompare(
  model: Model,
  level: VerifyLevel,
  config: RuntimeConfig,
): (trial: DatasetRef, signature: Pick<ModelSignature, "inputs">) => readonly DatasetRef[] {
  const values = meaningfulValues(model);
  // The more there are, the likelier the model does not take the sizes of one of them.
  const factors = isSmallAndHalf(model) ? [4, 1] : [1];
  return (trial, { inputs }) => {
    if (!trial.random) return [{ ...trial, ...(trial.indices && { indices: trial.indices.slice(0, SAMPLES[level]) }) }];
    const madeUp = (factor: number) => (sizes: OpenSizes, isBatchOpen: boolean) => {
      const count = factor * MADE_UP[level];
      const ref = randomInputs(inputs, config, sizes === "small" ? count : count / 2);
      return { ...ref, random: { ...ref.random!, values, sizes, ...(isBatchOpen && { signature: inputs }) } };
    };
    return factors
      .map(madeUp)
      .flatMap((make) => [
        make("small", true),
        make("large", true),
        make("small", false),
        make("single", false),
        make("uncached", true),
      ]);
  };
}

/** What came out, and on which data; or, when none would do, the fault that the first of it met. */
export type Tried<T> = { readonly result: T; readonly on: DatasetRef } | { readonly problem: InferOptError };

/**
 * Runs on the first of `data` that the model takes.
 * @param isFinal faults that are thrown, since no other data would help; the user's samples are never passed over by default
 */
export async function onFirstThatRuns<T>(
  data: readonly DatasetRef[],
  run: (data: DatasetRef) => Promise<T>,
  isFinal: (fault: InferOptError, data: DatasetRef) => boolean = (_, { random }) => !random,
): Promise<Tried<T>> {
  let problem: InferOptError | null = null;
  for (const on of data) {
    try {
      return { result: await run(on), on };
    } catch (thrown) {
      if (!isFault(thrown) || isFinal(thrown, on)) throw thrown;
      problem ??= thrown;
      // Stuck in a loop, it would be so on other inputs too.
      if (thrown.code === "RUNTIME_TIMEOUT") break;
    }
  }
  invariant(problem, "there is something to run on");
  return { problem };
}

/**
 * Half precision shows a rounding that has moved on some inputs and not on others; more of them cost little where the
 * weights are small.
 */
function isSmallAndHalf(model: Model): boolean {
  return weightBytes(model) < SMALL_BYTES && holdsHalf(model);
}

export const weightBytes = (model: Model): number =>
  constantsOf(model).reduce((sum, { constant }) => sum + (constant?.byteLength ?? 0), 0);

/** Whether a model takes, holds or makes numbers of half precision, by what its file says. */
export const holdsHalf = (model: Model): boolean =>
  [...model.graph.inputs, ...constantsOf(model)].some(({ dtype }) => isHalfType(dtype)) ||
  [...nodesWithin(model.graph)].some((node) => node.is("Cast") && isHalfType(dtypeOfCode(node.int("to", 0))));

const constantsOf = ({ graph }: Model): Value[] => [...graphsWithin(graph)].flatMap(({ constants }) => constants);

const SMALL_BYTES = 4 << 20;
