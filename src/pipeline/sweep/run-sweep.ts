/** `bench` over batch sizes and thread counts: latency against throughput, what a million inferences cost, and the best setting within the limits. */
import { basename } from "node:path";
import {
  type LatencySeries,
  latencyPercentiles,
  percentileBounds,
  type SweepSeries,
  sweep,
  throughputOf,
} from "../../bench/index.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { LatencyLimit, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { chooseEvaluationData, refuseFixedBatch, refuseUnfit, timingData } from "../evaluation-data.js";
import { refuseBatchBeyondMemory } from "../measure/batch-memory.js";
import { watchConditions } from "../measure/conditions.js";
import { UNSETTLED, usedProvider } from "../measure/latency.js";
import { modelFacts } from "../model-facts.js";
import { asDelivered, asWritten } from "../model-runs.js";
import type { ModelFacts, RunResult, Verdict, VerdictReason } from "../result.js";
import { RunRecord } from "../run-record.js";
import { judgePercentile } from "../verdict/verdict.js";
import type { SweepFacts, SweepSettingFacts } from "./sweep-facts.js";

export interface SweepConfig {
  readonly models: readonly string[];
  /** A dataset, whose samples come one at a time; made-up inputs when null. */
  readonly data: string | null;
  readonly batches: readonly number[];
  readonly threads: readonly number[];
  /** Its batch and threads are not looked at. */
  readonly runtime: RuntimeConfig;
  readonly slo: readonly LatencyLimit[];
  readonly costPerHour: number | null;
  readonly inconclusive: "fail" | "warn";
  /** Told every time that percentiles are made of. */
  readonly onSeries?: (series: LatencySeries) => void;
}

interface Setting {
  readonly model: ModelFacts;
  readonly config: RuntimeConfig;
  readonly data: DatasetRef;
}

/** Rejects with BATCH_FIXED where the model's first dimension is not open, and as running the models does. */
export async function runSweep(config: SweepConfig, context: RunContext): Promise<RunResult> {
  const record = new RunRecord("bench", context);
  const conditions = watchConditions(config.runtime, config.threads, record);
  const settings = await record.stage("load", () => settingsOf(config, context));
  const { seed, benchMs } = config.runtime;
  const series = await record.stage("bench", () =>
    sweep(
      context.runtime,
      settings.map(({ model, config, data }) => ({ model: model.path, data, session: asDelivered(config) })),
      { ...{ budgetMs: benchMs, seed, clock: context.now, signal: context.signal }, onProgress: record.progress },
    ),
  );
  if (series.some(({ settled }) => !settled)) {
    record.warn(UNSETTLED);
  }
  warnOfFewProcesses(settings, series, record);
  for (const [i, { model, config: sized }] of settings.entries()) {
    const name = `${basename(model.path)}:batch=${sized.batch}:threads=${sized.threads}`;
    config.onSeries?.({ name, samplesMs: series[i]!.samplesMs });
  }
  const facts = settings.map((setting, i) => settingFacts(setting, series[i]!, config));
  const fastest = mostThroughput(
    facts.map((_, i) => i),
    facts,
  )!;
  const fits = [...facts.keys()].filter((i) => isMet(facts[i]!));
  const found: SweepFacts = {
    provider: usedProvider(context, config.runtime),
    data: settings[0]!.data.path,
    costPerHour: config.costPerHour,
    settings: facts,
    fastest,
    best: mostThroughput(fits, facts),
  };
  return record.result({
    model: settings[0]!.model,
    verdict: verdictOf(found, config),
    ...conditions(series.flatMap(({ allowed }) => allowed)),
    sweep: found,
  });
}

async function settingsOf(
  { models, data: given, batches, threads, runtime }: SweepConfig,
  context: RunContext,
): Promise<readonly Setting[]> {
  const settings: Setting[] = [];
  for (const path of models) {
    const model = await modelFacts(path);
    const signature = await context.runtime.describe(path, asWritten(runtime));
    for (const batch of batches) {
      const sized = { ...runtime, batch };
      const chosen = await chooseEvaluationData({ calibration: null, eval: given, metric: null }, signature, sized);
      const data = timingData(chosen, signature, sized);
      await refuseUnfit(data, signature);
      if (given === null) await refuseBatchBeyondMemory(path, signature.inputs, sized, context);
      // Nobody asked for a batch where there is one, of 1.
      if (batches.length > 1 || batch !== 1) refuseFixedBatch(path, data, sized);
      for (const count of threads) settings.push({ model, data, config: { ...sized, threads: count } });
    }
  }
  return settings;
}

function settingFacts(
  { model, config: { batch, threads } }: Setting,
  { samplesMs, loadMs, firstRunMs, peakRssBytes }: SweepSeries,
  { slo, costPerHour }: SweepConfig,
): SweepSettingFacts {
  const percentiles = latencyPercentiles(samplesMs);
  const bounds = percentileBounds(samplesMs);
  const throughputPerSecond = throughputOf(samplesMs, batch);
  return {
    ...{ model, batch, threads, runs: samplesMs.length },
    ...percentiles,
    ...{ throughputPerSecond, loadMs, firstRunMs, peakRssBytes },
    costPerMillion: costPerHour === null ? null : (costPerHour / 3600 / throughputPerSecond) * 1e6,
    limits: slo.map((limit) => judgePercentile(limit, percentiles, bounds, samplesMs.length)),
  };
}

const mostThroughput = (indices: readonly number[], settings: readonly SweepSettingFacts[]): number | null =>
  indices.reduce<number | null>(
    (best, i) => (best === null || settings[i]!.throughputPerSecond > settings[best]!.throughputPerSecond ? i : best),
    null,
  );

const isMet = ({ limits }: SweepSettingFacts): boolean => limits.every(({ status }) => status === "met");

/** Whether the intervals of their medians leave it open which takes less time for a sample. */
function mayBeAsFast(one: SweepSettingFacts, other: SweepSettingFacts): boolean {
  const least = (one.bounds?.p50.low ?? 0) / one.batch;
  const most = (other.bounds?.p50.high ?? Number.POSITIVE_INFINITY) / other.batch;
  return least <= most;
}

function verdictOf({ settings, fastest, best }: SweepFacts, { slo, inconclusive }: SweepConfig): Verdict {
  const chosen = settings[best ?? fastest]!;
  const isSeveral = new Set(settings.map(({ model }) => model.path)).size > 1;
  const nameOf = ({ model }: SweepSettingFacts): string => (isSeveral ? `${basename(model.path)}, ` : "");
  const named = (setting: SweepSettingFacts): string => {
    const perSecond = Number(setting.throughputPerSecond.toPrecision(3));
    return `${nameOf(setting)}${wordsOf(setting)} at ${perSecond} a second`;
  };
  if (best !== null) {
    const words = slo.length === 0 ? "the most" : "the most within the limits";
    const reasons = chosen.limits;
    const rival = settings
      .filter((setting) => setting !== chosen && isMet(setting) && mayBeAsFast(setting, chosen))
      .sort((a, b) => b.throughputPerSecond - a.throughputPerSecond)[0];
    const doubt = rival ? `; ${named(rival)} may be as many` : "";
    return { status: "pass", outcome: "met", reasons, summary: `${words}: ${named(chosen)}${doubt}` };
  }
  const isUnsure = settings.some(({ limits }) => limits.every(({ status }) => status !== "missed"));
  const reasons: VerdictReason[] = settings.map((setting) => {
    const { batch, threads, limits } = setting;
    const worst = limits.find(({ status }) => status === "missed") ?? limits.find(({ status }) => status !== "met")!;
    return { ...worst, text: `${nameOf(setting)}batch ${batch}, threads ${threads}: ${worst.text}` };
  });
  if (!isUnsure) {
    return { status: "fail", outcome: "latency", reasons, summary: "no setting meets every limit" };
  }
  const summary = "inconclusive: no setting surely meets every limit; time longer with --budget";
  return { status: "inconclusive", outcome: inconclusive === "warn" ? "met" : "inconclusive", reasons, summary };
}

/** A process more may take some per cent more or less: what is of few is less sure than its many runs look. */
function warnOfFewProcesses(
  settings: readonly Setting[],
  series: readonly Pick<SweepSeries, "processes">[],
  record: RunRecord,
): void {
  const most = Math.max(...series.map(({ processes }) => processes));
  const few = settings.flatMap(({ config }, i) => (series[i]!.processes < most ? [wordsOf(config)] : []));
  if (few.length === 0) return;
  record.warn(
    `there was no time to run ${few.join(", ")} in as many processes as others (${most}), which differ by some per cent: ` +
      "say more with --budget",
  );
}

const wordsOf = ({ batch, threads }: { readonly batch: number; readonly threads: number }): string =>
  `batch ${batch} with ${threads} ${threads === 1 ? "thread" : "threads"}`;
