/**
 * `bench --pipeline`: a whole request with the user's own steps around the model. What each stage takes, where time is
 * to be won first, what working on the next request while the model runs brings, and whether a budget holds.
 */
import { InferOptError } from "../../base/errors.js";
import { mean } from "../../base/statistics.js";
import {
  type LatencySeries,
  latencyPercentiles,
  percentileBounds,
  type StageTimes,
  stageTimes,
} from "../../bench/index.js";
import { ownStages } from "../../stages/index.js";
import type { LatencyLimit, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { watchConditions } from "../measure/conditions.js";
import { usedProvider } from "../measure/latency.js";
import { timedModels } from "../measure/timed-models.js";
import { asDelivered } from "../model-runs.js";
import type { RunResult, VerdictReason } from "../result.js";
import { RunRecord, refuseInterrupted } from "../run-record.js";
import { verdictOfReasons } from "../verdict/reasons-verdict.js";
import { judgePercentile } from "../verdict/verdict.js";
import { budgetOver, judgeBudget, type StageLimit } from "./latency-budget.js";
import type { FirstFacts, RequestFacts, StageFacts, StageTimeFacts } from "./request-facts.js";

export interface StagesConfig {
  readonly models: readonly string[];
  /** Path of the module. */
  readonly pipeline: string;
  /** A dataset whose samples are the requests, where the module has none; made-up inputs when null. */
  readonly data: string | null;
  readonly runtime: RuntimeConfig;
  readonly budget: readonly StageLimit[];
  /** That the budget is about. */
  readonly percentile: LatencyLimit["percentile"];
  /** On the whole request. */
  readonly slo: readonly LatencyLimit[];
  readonly inconclusive: "fail" | "warn";
  /** Told every time that percentiles are made of. */
  readonly onSeries?: (series: LatencySeries) => void;
}

/** Rejects with PIPELINE_MODELS, FLAG_INVALID for a budget of a stage that there is not, PIPELINE_* as the module fails, and as running the model does. */
export async function runStages(config: StagesConfig, context: RunContext): Promise<RunResult> {
  const record = new RunRecord("bench", context);
  const conditions = watchConditions(config.runtime, [config.runtime.threads], record);
  const { model, facts, reasons, allowed } = await measureRequests(config, record);
  const summary = reasons.length > 0 ? "every limit is met" : summaryOf(facts);
  return record.result({
    model,
    verdict: verdictOfReasons(reasons, config.inconclusive, summary),
    ...conditions(allowed),
    request: facts,
  });
}

/** Throws PIPELINE_MODELS. */
export function requireOneModel(models: readonly string[]): void {
  if (models.length !== 1) {
    throw new InferOptError(
      "PIPELINE_MODELS",
      "usage",
      `--pipeline: ${models.length} models cannot stand in one pipeline`,
      {
        hint: "Name one model, and run it once for each; without --pipeline several are timed in turns.",
        fields: { flag: "--pipeline", models },
      },
    );
  }
}

export interface MeasuredRequests {
  readonly model: RunResult["model"];
  readonly facts: RequestFacts;
  readonly reasons: readonly VerdictReason[];
  readonly allowed: StageTimes["allowed"];
}

/** Rejects as `runStages`. */
export async function measureRequests(config: StagesConfig, record: RunRecord): Promise<MeasuredRequests> {
  const { context } = record;
  const { models, pipeline, runtime, percentile, slo } = config;
  requireOneModel(models);
  const { models: found, data } = await record.stage("load", () => timedModels(models, config.data, runtime, context));
  const [model] = found;
  let budget: ReadonlyMap<string, number> = new Map();
  const times = await record.stage("bench", async () => {
    try {
      return await stageTimes(
        context.runtime,
        { model: model!.path, pipeline, data, session: asDelivered(runtime) },
        {
          ...{ budgetMs: runtime.benchMs, seed: runtime.seed, clock: context.now, signal: context.signal },
          onProgress: record.progress,
          // Before anything is timed.
          onOpen: (stages) => {
            budget = budgetOver(config.budget, stages);
          },
        },
      );
    } catch (thrown) {
      refuseInterrupted(context.signal);
      throw thrown;
    }
  });
  if (times.notOverlapped !== null) record.warn(`overlapping was not measured: ${times.notOverlapped}`);
  const series: LatencySeries[] = times.names.map((name, i) => ({ name, samplesMs: times.stagesMs[i]! }));
  series.push({ name: "total", samplesMs: times.requestMs }, { name: "inference:alone", samplesMs: times.aloneMs });
  if (times.overlap) series.push({ name: "total:overlapped", samplesMs: times.overlap.requestMs });
  for (const each of series) config.onSeries?.(each);
  const facts = factsOf(times, {
    ...{ pipeline, provider: usedProvider(context, runtime), threads: runtime.threads },
    data: times.hasRequests ? pipeline : data.path,
  });
  const { total, requests } = facts;
  const reasons = [
    ...judgeBudget(budget, percentile, facts),
    ...slo.map((limit) => judgePercentile(limit, total, total.bounds, requests)),
  ];
  return { model: model!, facts, reasons, allowed: times.allowed };
}

function factsOf(
  times: StageTimes,
  conditions: Pick<RequestFacts, "pipeline" | "provider" | "threads" | "data">,
): RequestFacts {
  const stages = times.names.map((name, i): StageFacts => {
    const { share, interval } = times.shares[i]!;
    const isOwn = !ownStages.some((own) => own === name);
    return { name, isOwn, share, shareInterval: interval, ...timesOf(times.stagesMs[i]!) };
  });
  const { overlap } = times;
  return {
    ...conditions,
    ...{ requests: times.requestMs.length, distinct: times.distinct, processes: times.processes },
    stages,
    total: timesOf(times.requestMs),
    first: firstToImprove(stages),
    alone: timesOf(times.aloneMs),
    overlap: overlap && {
      ...{ speedup: overlap.speedup, speedupInterval: overlap.speedupInterval },
      ...{ serialPerSecond: overlap.serialPerSecond, overlappedPerSecond: overlap.overlappedPerSecond },
      latency: latencyPercentiles(overlap.requestMs),
    },
    notOverlapped: times.notOverlapped,
    peakRssBytes: times.peakRssBytes,
  };
}

const timesOf = (samplesMs: Float64Array): StageTimeFacts => ({
  ...latencyPercentiles(samplesMs),
  meanMs: mean(samplesMs),
  bounds: percentileBounds(samplesMs),
});

/** The largest share; every stage that may well have it, where intervals overlap. */
export function firstToImprove(stages: readonly Pick<StageFacts, "name" | "share" | "shareInterval">[]): FirstFacts {
  const ordered = [...stages].sort((a, b) => b.share - a.share);
  const largest = ordered[0]!;
  const rivals = ordered.filter(({ shareInterval: [, high] }) => high >= largest.shareInterval[0]);
  return { stages: rivals.map(({ name }) => name), ifHalved: 1 / (1 - largest.share / 2) };
}

function summaryOf({ total, first, stages }: RequestFacts): string {
  const largest = stages.find(({ name }) => name === first.stages[0])!;
  const percent = `${Math.round(100 * largest.share)} %`;
  return `a request takes ${Number(total.p50Ms.toPrecision(3))} ms, ${percent} of its time ${largest.name}`;
}
