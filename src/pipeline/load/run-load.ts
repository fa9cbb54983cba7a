/**
 * `bench --rate`: does a model hold its limits under the load that is expected? Requests arrive when they do, and latency
 * counts from their arrival.
 */
import { basename } from "node:path";
import { InferOptError } from "../../base/errors.js";
import { percentileShares } from "../../base/percentiles.js";
import { isQuantileAbove, isQuantileBelow } from "../../base/quantile-interval.js";
import { seededRandom } from "../../base/random.js";
import {
  type ArrivalKind,
  arrivals,
  countedTimes,
  type LatencySeries,
  type LoadSummary,
  queriesNeeded,
  rateOf,
  Server,
  summarizeLoad,
} from "../../bench/index.js";
import { watchConditions } from "../conditions.js";
import type { LatencyLimit, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { batchOf } from "../evaluation-data.js";
import { usedProvider } from "../latency.js";
import { asDelivered } from "../model-runs.js";
import { verdictOfReasons, worstOf } from "../reasons-verdict.js";
import type { RunResult, VerdictReason } from "../result.js";
import { RunRecord, refuseInterrupted } from "../run-record.js";
import { timedModels } from "../timed-models.js";
import { percentileReason } from "../verdict.js";
import { readArrivalTrace } from "./arrival-trace.js";
import type { LoadFacts, MaxRateFacts, ModelLoadFacts, TriedRate } from "./load-facts.js";

export interface LoadConfig {
  readonly models: readonly string[];
  /** A dataset to feed the models with; made-up inputs when null. */
  readonly data: string | null;
  readonly runtime: RuntimeConfig;
  /** Requests a second, or a file of the moments at which they came. */
  readonly offered:
    | { readonly rate: number; readonly kind: ArrivalKind }
    /** `untilMs`: how much of it; null for all. */
    | { readonly trace: string; readonly untilMs: number | null };
  /** That share the requests. */
  readonly processes: number;
  readonly slo: readonly LatencyLimit[];
  /** Also search for the highest rate at which the limits are met. */
  readonly findMaxRate: boolean;
  readonly inconclusive: "fail" | "warn";
  /** Told every time that percentiles are made of. */
  readonly onSeries?: (series: LatencySeries) => void;
}

/** Requests that the percentiles start to be worth something with, and as many as are held with their times. */
const [LEAST_REQUESTS, MOST_REQUESTS] = [30, 5_000_000];

/** Rejects with LOAD_TOO_FEW, LOAD_TOO_MANY, TRACE_INVALID, FLAG_INVALID (a search without limits), and as running the models does. */
export async function runLoad(config: LoadConfig, context: RunContext): Promise<RunResult> {
  const { runtime, processes, slo } = config;
  const record = new RunRecord("bench", context);
  if (config.findMaxRate && slo.length === 0) {
    throw new InferOptError("FLAG_INVALID", "usage", "--find-max-rate: there is no limit that a rate could break", {
      hint: "Add one: --slo p95=20ms.",
      fields: { flag: "--find-max-rate" },
    });
  }
  const offered = offeredLoad(config);
  const { durationMs, rate, kind } = offered;
  const conditions = watchConditions(runtime, [runtime.threads], record);
  const { models, data } = await record.stage("load", () => timedModels(config.models, config.data, runtime, context));
  const loads: ModelLoadFacts[] = [];
  const reasons: VerdictReason[] = [];
  const allowed: (readonly number[])[] = [];
  for (const model of models) {
    const named = (found: VerdictReason[]): VerdictReason[] =>
      models.length === 1 ? found : found.map((reason) => ({ ...reason, text: `${model.path}: ${reason.text}` }));
    const load = await record.stage(
      "bench",
      async () => {
        const session = asDelivered(runtime);
        const options = {
          ...{ model: model.path, data, session, processes },
          clock: context.now,
          signal: context.signal,
        };
        const server = await Server.start(context.runtime, options);
        allowed.push(...server.allowed);
        try {
          const sent = bearable(offered, server.serviceMs / processes);
          if (sent !== offered) record.warn(cutShort(model.path, offered, sent));
          const served = await server.serve(sent.arrivalsMs, record.progress);
          const counted = countedTimes(served, sent.durationMs);
          const { latencies, waits, services } = counted;
          const name = basename(model.path);
          config.onSeries?.({ name, samplesMs: latencies });
          config.onSeries?.({ name: `${name}:waiting`, samplesMs: waits });
          config.onSeries?.({ name: `${name}:served`, samplesMs: services });
          const summary = summarizeLoad(served, sent.durationMs, processes, counted);
          reasons.push(...named(reasonsFor(summary, latencies, slo, rate)));
          const maxRate = config.findMaxRate ? await findMaxRate(server, config, context) : null;
          return { model, ...summary, peakRssBytes: served.peakRssBytes, ...(maxRate && { maxRate }) };
        } finally {
          await server.stop();
        }
      },
      model.path,
    );
    refuseInterrupted(context.signal);
    loads.push(load);
  }
  const facts: LoadFacts = {
    provider: usedProvider(context, runtime),
    threads: runtime.threads,
    batch: batchOf(data),
    ...{ data: data.path, arrivals: kind, rate, processes, durationMs, models: loads },
  };
  const verdict = verdictOfReasons(reasons, config.inconclusive, "every limit is met under this load");
  return record.result({ model: models[0]!, verdict, ...conditions(allowed), load: facts });
}

interface OfferedLoad {
  readonly arrivalsMs: Float64Array;
  readonly durationMs: number;
  readonly rate: number;
  readonly kind: LoadFacts["arrivals"];
}

function offeredLoad({ offered, runtime: { seed, benchMs } }: LoadConfig): OfferedLoad {
  if ("trace" in offered) {
    const arrivalsMs = readArrivalTrace(offered.trace, offered.untilMs);
    return { arrivalsMs, durationMs: arrivalsMs.at(-1)!, rate: rateOf(arrivalsMs), kind: "trace" };
  }
  const { rate, kind } = offered;
  if ((rate * benchMs) / 1000 > MOST_REQUESTS) {
    const text = `${rate} requests a second for ${benchMs / 1000} s are more than ${MOST_REQUESTS}, which is more than is held in memory`;
    throw new InferOptError("LOAD_TOO_MANY", "usage", text, {
      hint: "Say a lower --rate, or a shorter --budget.",
      fields: { rate, most: MOST_REQUESTS },
    });
  }
  const arrivalsMs = arrivals(kind, rate, benchMs, seededRandom(seed));
  if (arrivalsMs.length < LEAST_REQUESTS) {
    const neededS = Math.ceil(LEAST_REQUESTS / rate);
    throw new InferOptError(
      "LOAD_TOO_FEW",
      "usage",
      `${rate} requests a second for ${benchMs / 1000} s are ${arrivalsMs.length}, too few to say anything of`,
      { hint: `Say --budget ${neededS}s or more.`, fields: { rate, requests: arrivalsMs.length } },
    );
  }
  return { arrivalsMs, durationMs: benchMs, rate, kind };
}

/** Longer than so many times the time in which they arrive nobody waits for requests that queue up: that they do is seen before. */
const PATIENCE = 3;

/** The first of them, where all would take far longer than they arrive in; `everyMs`: so often one is served. */
function bearable(offered: OfferedLoad, everyMs: number): OfferedLoad {
  const { arrivalsMs, durationMs } = offered;
  const most = Math.max(LEAST_REQUESTS, Math.floor((PATIENCE * durationMs) / everyMs));
  const until = arrivalsMs[most] ?? 0;
  return until > 0 ? { ...offered, arrivalsMs: arrivalsMs.slice(0, most), durationMs: until } : offered;
}

const cutShort = (path: string, { arrivalsMs }: OfferedLoad, sent: OfferedLoad): string =>
  `${path} serves far less than arrives: the first ${sent.arrivalsMs.length} of ${arrivalsMs.length} requests were sent, those of ${Number((sent.durationMs / 1000).toPrecision(2))} s`;

/** Rates are told apart to within this factor. */
const FINE_ENOUGH = 1.05;
const MOST_TRIALS = 9;

/** Halves the distance, by factors, between what passes and what does not, from below what the model can serve at all. */
async function findMaxRate(server: Server, config: LoadConfig, context: RunContext): Promise<MaxRateFacts> {
  const { runtime, processes } = config;
  const kind = "trace" in config.offered ? "poisson" : config.offered.kind;
  const capacity = (1000 * processes) / server.serviceMs;
  const tried: TriedRate[] = [];
  let passed: number | null = null;
  let failed: number | null = null;
  let rate = capacity / 2;
  while (tried.length < MOST_TRIALS) {
    const trial = await tryRate(server, config, { rate, kind, seed: runtime.seed + tried.length + 1 }, context);
    tried.push(trial);
    const { status } = trial;
    if (status === "met") passed = rate;
    else failed = rate;
    if (passed !== null && failed !== null && failed / passed < FINE_ENOUGH) break;
    if (failed === null) {
      if (rate >= capacity) break;
      rate = Math.min(capacity, rate * Math.SQRT2);
    } else if (passed === null) rate /= 4;
    else rate = Math.sqrt(passed * failed);
  }
  return { perSecond: passed, failedPerSecond: failed, tried };
}

/** A rate that cannot be decided is tried for longer, up to so many times as long: taken for a failure, it would end the search far too low. */
const LONGEST = 4;

async function tryRate(
  server: Server,
  { runtime, processes, slo }: LoadConfig,
  { rate, kind, seed }: { readonly rate: number; readonly kind: ArrivalKind; readonly seed: number },
  context: RunContext,
): Promise<TriedRate> {
  // No fewer requests than the declared percentiles need, whatever the rate.
  const leastMs = Math.max(runtime.benchMs / 2, (1000 * leastRequests(slo)) / rate);
  for (let durationMs = leastMs; ; durationMs *= 2) {
    const served = await server.serve(arrivals(kind, rate, durationMs, seededRandom(seed)));
    refuseInterrupted(context.signal);
    const counted = countedTimes(served, durationMs);
    const summary = summarizeLoad(served, durationMs, processes, counted);
    const status = worstOf(reasonsFor(summary, counted.latencies, slo, rate));
    if (status === "inconclusive" && durationMs < LONGEST * leastMs) continue;
    return { perSecond: rate, status, latency: summary.latency, waiting: summary.waiting };
  }
}

/** As many as a percentile takes of which a few are late. */
const leastRequests = (slo: readonly LatencyLimit[]): number =>
  Math.max(...slo.map(({ percentile }) => queriesNeeded(A_FEW, percentileShares[percentile])));
const A_FEW = 4;

function reasonsFor(
  summary: LoadSummary,
  latencies: Float64Array,
  slo: readonly LatencyLimit[],
  rate: number,
): VerdictReason[] {
  const { servedPerSecond, utilization } = summary;
  const isServed = utilization < 1;
  const busy = `${Math.round(100 * utilization)} % busy`;
  return [
    {
      limit: "rate",
      wanted: rate,
      got: servedPerSecond,
      unit: "a second",
      status: isServed ? "met" : "missed",
      text: isServed
        ? `${per(rate)} arrived and were served, ${busy}`
        : `the queue grows: of ${per(rate)} only ${per(servedPerSecond)} were served, ${busy}`,
    },
    ...slo.map((limit) => judgeLate(limit, summary, latencies)),
  ];
}

/**
 * By how many requests were late, which tells of a limit that is far away long before the bounds of the percentile do, and
 * when there were as many as LoadGen asks for.
 */
function judgeLate(limit: LatencyLimit, { latency, bounds }: LoadSummary, latencies: Float64Array): VerdictReason {
  const { percentile, ms } = limit;
  const share = percentileShares[percentile];
  const late = latencies.reduce((count, each) => count + (each > ms ? 1 : 0), 0);
  const reason = percentileReason(limit, latency, bounds);
  const told = (status: VerdictReason["status"], remark = ""): VerdictReason => {
    const text = `${reason.text}; ${late} of ${latencies.length} requests took longer${remark}`;
    return { ...reason, status, text };
  };
  if (isQuantileAbove(latencies, share, ms)) return told("missed");
  const needed = queriesNeeded(late, share);
  if (latencies.length < needed) {
    return told("inconclusive", `, and then it takes ${needed} to be 99 % sure: time longer`);
  }
  if (isQuantileBelow(latencies, share, ms)) return told("met");
  return told("inconclusive", ", which depend on each other too much to be sure: time longer");
}

const per = (rate: number): string => `${Number(rate.toPrecision(3))} requests a second`;
