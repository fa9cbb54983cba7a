/** `bench`: latency of one model, or of several in turns, each compared with the first. */
import { basename } from "node:path";
import { InferOptError } from "../../base/errors.js";
import { type LatencyComparison, type LatencySeries, type ModelLatency, throughputOf } from "../../bench/index.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { batchOf } from "../evaluation-data.js";
import { madeUpSizes } from "../made-up-sizes.js";
import type { BenchFacts, BenchRow, ColdStartFacts, MemoryFacts, RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import { watchConditions } from "./conditions.js";
import { measureLatency, percentilesOf, usedProvider } from "./latency.js";
import { provePlacement } from "./placement.js";
import { timedModels } from "./timed-models.js";

export interface BenchConfig {
  /** At least one; the others are compared with the first. */
  readonly models: readonly string[];
  /** A dataset to feed the models with; made-up inputs when null. */
  readonly data: string | null;
  readonly runtime: RuntimeConfig;
  /** Also time the first model against a copy of itself. */
  readonly noiseCheck?: boolean;
  /** Told every time that percentiles are made of. */
  readonly onSeries?: (series: LatencySeries) => void;
}

/** Rejects with BENCH_NO_MODEL, and as loading and running the models do. `result.bench` holds a row for each model. */
export async function runBench(config: BenchConfig, context: RunContext): Promise<RunResult> {
  const [first, ...others] = config.models;
  if (first === undefined) {
    throw new InferOptError("BENCH_NO_MODEL", "usage", "there is no model to time", { hint: "Name at least one." });
  }
  const record = new RunRecord("bench", context);
  const conditions = watchConditions(config.runtime, [config.runtime.threads], record);
  const { models: facts, data } = await record.stage("load", () =>
    timedModels(config.models, config.data, config.runtime, context),
  );

  const models: TimedModel[] = [];
  for (const model of facts) {
    const placement = await provePlacement({ model: model.path, data, config: config.runtime, record });
    models.push({ model, ...(placement && { placement }) });
  }
  const { comparison, candidates, warnings } = await record.stage("bench", () =>
    measureLatency(context, {
      baseline: first,
      candidates: others,
      data,
      runtime: config.runtime,
      minSpeedup: 1,
      slo: [],
      noiseCheck: config.noiseCheck ?? false,
      onProgress: record.progress,
    }),
  );
  record.warn(...warnings);
  for (const { model, samplesMs } of [comparison.baseline, ...comparison.candidates]) {
    config.onSeries?.({ name: basename(model), samplesMs });
  }
  return record.result({
    model: facts[0]!,
    latency: candidates[0]?.facts ?? null,
    verdict: { status: "pass", outcome: "met", reasons: [], summary: summaryOf(comparison) },
    ...conditions([comparison.baseline, ...comparison.candidates].flatMap(({ allowed }) => allowed)),
    bench: benchFacts(
      comparison,
      models,
      config,
      { batch: batchOf(data), called: await calledWithSizes(data) },
      usedProvider(context, config.runtime),
    ),
  });
}

function coldStartOf({ start, firstRunMs, p50Ms }: ModelLatency): ColdStartFacts {
  const { processMs, runtimeMs, sessionMs } = start;
  const totalMs = processMs + runtimeMs + sessionMs + firstRunMs;
  return { processMs, runtimeMs, sessionMs, firstRunMs, totalMs, steadyMs: p50Ms };
}

const memoryOf = ({ start, peakRssBytes }: ModelLatency): MemoryFacts => ({
  runtimeBytes: start.runtimeBytes,
  sessionBytes: start.sessionBytes,
  peakBytes: peakRssBytes,
});

async function calledWithSizes(data: DatasetRef): Promise<string> {
  const sizes = await madeUpSizes(data);
  return sizes === null ? data.path : `${data.path} (${sizes})`;
}

type TimedModel = Pick<BenchRow, "model" | "placement">;

function benchFacts(
  { runs, processes, baseline, candidates, noise }: LatencyComparison,
  models: readonly TimedModel[],
  { runtime: { threads } }: BenchConfig,
  { batch, called }: { readonly batch: number; readonly called: string },
  provider: string,
): BenchFacts {
  const row = (latency: ModelLatency, i: number): BenchRow => ({
    ...models[i]!,
    ...percentilesOf(latency),
    throughputPerSecond: throughputOf(latency.samplesMs, batch),
    loadMs: latency.loadMs,
    firstRunMs: latency.firstRunMs,
    peakRssBytes: latency.peakRssBytes,
    coldStart: coldStartOf(latency),
    memory: memoryOf(latency),
    speedup: null,
    speedupInterval: null,
  });
  return {
    provider,
    threads,
    batch,
    runs,
    processes,
    data: called,
    models: [
      row(baseline, 0),
      ...candidates.map((candidate, i) => ({
        ...row(candidate, i + 1),
        speedup: candidate.speedup,
        speedupInterval: candidate.speedupInterval,
      })),
    ],
    noise: noise && { ratio: noise.ratio, interval: noise.interval },
  };
}

function summaryOf({ runs, baseline, candidates }: LatencyComparison): string {
  const ms = (value: number): string => `${Number(value.toPrecision(4))} ms`;
  if (candidates.length === 0) return `median ${ms(baseline.p50Ms)} over ${runs} runs`;
  const parts = candidates.map(
    ({ model, p50Ms, speedup, speedupInterval: [low, high] }) =>
      `${model}: ${ms(p50Ms)}, ${speedup.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)})`,
  );
  return `${baseline.model}: ${ms(baseline.p50Ms)}; ${parts.join("; ")}`;
}
