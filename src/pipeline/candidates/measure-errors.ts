/** How far candidates' outputs are from the float model's on a few samples: what they are compared by before any is raced. */
import { faultOf, InferOptError } from "../../base/errors.js";
import type { RunContext } from "../context.js";
import type { Measured } from "../journal.js";
import { asDelivered, modelFaults, removeLinked, untimed } from "../model-runs.js";
import { failureOfOriginal } from "../original-too.js";
import { type Candidate, isStatic, type Sqnr } from "./candidate.js";
import { labelsOf, tellingModels } from "./inner-values.js";
import { sqnrOf } from "./output-noise.js";
import type { WorkshopOptions } from "./workshop.js";

interface ErrorEntry {
  readonly sqnrDb: number | null;
  readonly pooledDb: number | null;
  readonly inner?: Sqnr;
  readonly isRefused: boolean;
  readonly note: string;
}

/**
 * Fills `sqnrDb` of each, the mean over the trial samples of all float outputs, `pooledDb`, of all samples together, and where
 * answers are few numbers `inner`. They stay as they are where the model has no float output. One that the runtime refuses gets
 * -Infinity and a note that says so.
 * @param turn when they may be run, where something else is run before; what that takes no process for is done by then. False: they
 * need not be
 */
export async function measureErrors(
  candidates: readonly Candidate[],
  options: WorkshopOptions,
  context: RunContext,
  journal: Measured | null,
  turn: Promise<boolean> = Promise.resolve(true),
): Promise<void> {
  const unknown = candidates.filter((candidate) => {
    const known = journal?.recall<ErrorEntry>(candidate, "error");
    if (known) {
      const { sqnrDb, pooledDb, inner, isRefused, note } = known;
      const own = { sqnrDb: isRefused ? Number.NEGATIVE_INFINITY : sqnrDb, note, ...(inner && { inner }) };
      Object.assign(candidate, own);
      if (pooledDb !== null) candidate.pooledDb = pooledDb;
    }
    return !known;
  });
  // Each part is held against answers of its own of the float model.
  for (const isTold of [true, false]) {
    const part = unknown.filter((each) => (options.inner !== undefined && isComparable(each)) === isTold);
    if (part.length > 0) await measureTogether(part, isTold, options, context, turn);
  }
  if (!(await turn)) return;
  for (const candidate of unknown) {
    const { sqnrDb, pooledDb = null, inner, note } = candidate;
    const isRefused = sqnrDb === Number.NEGATIVE_INFINITY;
    journal?.record(candidate, "error", {
      sqnrDb: isRefused ? null : sqnrDb,
      ...{ pooledDb, isRefused },
      ...(inner && { inner }),
      note,
    } satisfies ErrorEntry);
  }
}

/** Whether what its last products read is what they read in the float model that static integers are made of: other forms may scale it. */
const isComparable = (candidate: Candidate): boolean =>
  isStatic(candidate) && candidate.variant.kind === "integers" && !candidate.variant.recipe.smoothing;

/** @param isTold whether what the last products read is measured too, where each of the candidates can tell it */
async function measureTogether(
  batch: readonly Candidate[],
  isTold: boolean,
  options: WorkshopOptions,
  context: RunContext,
  turn: Promise<boolean>,
): Promise<void> {
  const { prepared, trial, runtime, answers, inner, original } = options;
  const telling = isTold && inner ? tellingModels(inner, batch, context) : null;
  try {
    if (!(await turn)) return;
    const { scores, energies, apart } = await context.runtime.score({
      // The prepared model gives the original's answers, and loads faster.
      models: telling ?? [prepared, ...batch.map(({ built }) => built.path)],
      data: trial,
      metric: { kind: "builtin", name: "sqnr" },
      session: untimed(runtime),
      ...{ isInTurn: true, withEnergies: true },
      ...(telling && { apart: labelsOf(inner!) }),
      ...(answers !== undefined && { answers }),
    });
    batch.forEach((candidate, i) => {
      const { sqnrDb, pooledDb } = sqnrOf(scores[i + 1]!, energies!);
      // Squares of answers in float64 may be too large for a number.
      candidate.sqnrDb = Number.isNaN(sqnrDb) ? Number.NEGATIVE_INFINITY : sqnrDb;
      if (Number.isNaN(sqnrDb)) return;
      candidate.pooledDb = pooledDb;
      const found = apart && sqnrOf(apart.scores[i + 1]!, apart.energies!);
      if (found && !Number.isNaN(found.sqnrDb)) candidate.inner = found;
    });
  } catch (thrown) {
    // Answers in integers have no distance to measure: candidates are told apart by speed and accuracy alone.
    if (thrown instanceof InferOptError && thrown.code === "METRIC_NO_FLOATS") return;
    if (!(thrown instanceof InferOptError) || !modelFaults.has(thrown.code)) throw thrown;
    // One bad apple: the others are measured without it. What the runtime refuses for telling more may well do as it is.
    if (batch.length > 1 || telling) {
      for (const each of batch) await measureTogether([each], isTold && batch.length > 1, options, context, turn);
      return;
    }
    const own = await faultOf(() => context.runtime.describe(original, asDelivered(runtime), { isRough: true }));
    if (own?.code === "RUNTIME_CRASHED") throw own;
    const failed = await failureOfOriginal(thrown, original, [trial], runtime, context);
    if (failed) throw failed;
    batch[0]!.sqnrDb = Number.NEGATIVE_INFINITY;
    batch[0]!.note = `the runtime refuses it: ${thrown.message}`;
  } finally {
    for (const path of telling?.slice(1) ?? []) removeLinked(path);
  }
}
