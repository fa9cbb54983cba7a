/** `gate`: two models and the limits between them, as a step of somebody's CI. Only what the limits ask for is measured. */
import { InferOptError } from "../../base/errors.js";
import type { DataConfig, Limits, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { chooseEvaluation, classOutput, type Evaluation, floatOutputs, timingData } from "../evaluation-data.js";
import { watchConditions } from "../measure/conditions.js";
import { measureLatency } from "../measure/latency.js";
import { provePlacement } from "../measure/placement.js";
import { modelFacts } from "../model-facts.js";
import { answering } from "../model-runs.js";
import type { RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import { requireLimit } from "../verdict/required-limit.js";
import { judge } from "../verdict/verdict.js";
import { scoreModels } from "../verify/accuracy.js";
import { unseenWarnings } from "../verify/difference.js";
import { judgeAllNaN, judgeDead } from "../verify/nonsense.js";
import { answeringFor } from "../verify/other-target.js";
import { compareWithReferences } from "../verify/reference-outputs.js";
import { judgeSaturation } from "../verify/saturation.js";
import {
  appendHistory,
  changesIn,
  entryOf,
  type GateRun,
  type HistoryEntry,
  type HistoryFacts,
  readHistory,
} from "./history.js";

export interface GateConfig {
  readonly baseline: string;
  readonly candidate: string;
  readonly data: DataConfig;
  readonly limits: Limits;
  readonly runtime: RuntimeConfig;
  /** Where the candidate is to run, as `--target` names it; absent: here. */
  readonly target?: string;
  /** What to make of measurements that cannot decide a limit. */
  readonly inconclusive: "fail" | "warn";
  /** The file that limits came from, for the report. */
  readonly configPath?: string;
  /** A file that gets a line for this run. */
  readonly history?: GateHistory;
}

export interface GateHistory {
  readonly path: string;
  /** When the run is, as ISO 8601. */
  readonly at: string;
  /** Told why the line could not be written, for after the verdict; the run rejects with it where nobody listens. */
  readonly onUnwritten?: (failure: InferOptError) => void;
}

export async function runGate(given: GateConfig, context: RunContext): Promise<RunResult> {
  const config = answeringFor(given, context);
  const { baseline, candidate, limits } = config;
  const isTimed = limits.minSpeedup !== null || limits.slo.length > 0;
  requireLimit(config);
  const record = new RunRecord("gate", context);
  // Before the long work: a file that cannot be read ends the run.
  const before = config.history ? readHistory(config.history.path) : [];
  const { model, candidateModel, evaluation } = await record.stage("load", async () => ({
    model: await modelFacts(baseline),
    candidateModel: await modelFacts(candidate),
    evaluation: await chooseEvaluation(baseline, candidate, config.data, config.runtime, context),
  }));
  refuseEmpty(config);
  refuseMissingOutputs(candidate, evaluation);
  const placement = await provePlacement({
    model: candidate,
    data: evaluation.data.ref,
    config: config.runtime,
    record,
  });
  const conditions = isTimed ? watchConditions(config.runtime, [config.runtime.threads], record) : null;

  const scored =
    limits.maxDrop === "none" ? null : await record.stage("verify", () => measureAccuracy(config, evaluation, record));
  const accuracy = scored?.accuracy ?? null;
  const differences = scored?.differences ?? [];
  const seen = evaluation.data.count > COMPARED ? "some" : "all";
  const references =
    limits.maxDrop === "none" ? null : await compareWithReferences(context, config, evaluation, config.runtime);
  const timed = isTimed ? await record.stage("bench", () => measureSpeed(config, evaluation, record)) : null;
  const latency = timed?.measure ?? null;

  const saturation = judgeSaturation(candidate, config.target ?? null, config.runtime, context);
  const { verdict, warnings } = judge(
    limits,
    {
      accuracy,
      latency,
      bytes: { baseline: model.bytes, candidate: candidateModel.bytes },
      elsewhere: saturation.reason,
      nonsense: judgeAllNaN(differences, seen) ?? judgeDead(differences, floatOutputs(evaluation.signature)),
    },
    { gainRequired: false, goal: "speed", inconclusive: config.inconclusive },
  );
  record.warn(
    ...saturation.warnings,
    ...unseenWarnings(differences, accuracy?.facts.metric ?? null, classOutput(evaluation.signature)?.name),
    ...(references?.warnings ?? []),
    ...warnings,
  );
  const facts = { accuracy: accuracy?.facts ?? null, latency: latency?.facts ?? null };
  const run = { ...{ baseline: model, candidate: candidateModel, outcome: verdict.outcome }, ...facts };
  const history = config.history ? keepHistory(config.history, before, run) : null;
  record.warn(...(history?.changes.map(({ text }) => text) ?? []));
  return record.result({
    model,
    candidateModel,
    verdict,
    ...facts,
    ...(config.configPath !== undefined && { configPath: config.configPath }),
    ...(references && { references: references.facts }),
    ...(placement && { placement }),
    ...(conditions && timed && conditions(timed.allowed)),
    ...(history && { history }),
  });
}

function keepHistory(
  { path, at, onUnwritten }: GateHistory,
  before: readonly HistoryEntry[],
  run: GateRun,
): HistoryFacts {
  const entry = entryOf(run, at);
  try {
    appendHistory(path, entry);
  } catch (failure) {
    // The verdict is there, whatever a disk says.
    if (!(failure instanceof InferOptError) || !onUnwritten) throw failure;
    onUnwritten(failure);
  }
  const runs = before.filter(({ series }) => series === entry.series).length + 1;
  return { path, runs, changes: changesIn(before, entry) };
}

/** A gate that nothing can fail is a mistake in somebody's CI. */
function refuseEmpty({ data, limits: { maxDrop, minSpeedup, slo, maxSizeBytes } }: GateConfig): void {
  const hasData = data.eval !== null || data.calibration !== null;
  const judgesAccuracy = maxDrop !== "none" && (hasData || maxDrop !== null);
  if (judgesAccuracy || minSpeedup !== null || slo.length > 0 || maxSizeBytes !== null) return;
  const [why, cure] =
    maxDrop === "none"
      ? ["--max-drop none sets no limit on accuracy, and no other was given", "Give another --max-drop"]
      : ["neither data nor a limit was given", "Pass --eval DATA for the accuracy"];
  throw new InferOptError("GATE_EMPTY", "usage", `the gate has nothing to judge: ${why}`, {
    hint: `${cure}, or give a limit: --min-speedup, --slo, --max-size.`,
  });
}

/** Whoever reads an output that is gone is failed by the candidate, however quick or small it is. */
function refuseMissingOutputs(candidate: string, { missing, signature }: Evaluation): void {
  if (missing.length === 0) return;
  const named = missing.map((name) => `"${name}"`).join(", ");
  throw new InferOptError("MODELS_DIFFER", "input", `${candidate} lacks what the baseline gives: ${named}`, {
    hint: "Compare two forms of one model, with the same names of outputs.",
    fields: { candidate, missing, outputs: signature.outputs.map(({ name }) => name) },
  });
}

/** Samples whose outputs are looked at, for whether they are anything at all. */
const COMPARED = 8;

async function measureAccuracy(
  config: GateConfig,
  { data, metric, references }: Evaluation,
  { context, progress }: RunRecord,
) {
  const { candidates, differences } = await scoreModels(context, {
    models: [config.baseline, config.candidate],
    data: data.ref,
    metric,
    session: answering(config.runtime),
    withReferences: references.length > 0,
    seed: config.runtime.seed,
    confidence: config.limits.confidence,
    compared: COMPARED,
    onProgress: progress,
  });
  return { accuracy: candidates[0]!, differences: differences?.[0] ?? [] };
}

async function measureSpeed(config: GateConfig, { data, signature }: Evaluation, record: RunRecord) {
  const { candidates, comparison, warnings } = await measureLatency(record.context, {
    baseline: config.baseline,
    candidates: [config.candidate],
    data: timingData(data, signature, config.runtime),
    runtime: config.runtime,
    minSpeedup: config.limits.minSpeedup,
    slo: config.limits.slo,
    onProgress: record.progress,
  });
  record.warn(...warnings);
  const allowed = [comparison.baseline, ...comparison.candidates].flatMap((each) => each.allowed);
  return { measure: candidates[0]!, allowed };
}
