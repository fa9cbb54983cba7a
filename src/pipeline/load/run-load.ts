/**
 * `bench --rate`: does a model hold its limits under the load that is expected? Requests arrive when they do, and latency
 * counts from their arrival.
 */
import { basename } from "node:path";
import { InferOptError } from "../../base/errors.js";
import { percentileShares } from "../../base/percentiles.js";
import { seededRandom } from "../../base/random.js";
import {
  type ArrivalKind,
  arrivals,
  COUNTED_SHARE,
  type LatencySeries,
  queriesNeeded,
  rateOf,
  Server,
} from "../../bench/index.js";
import type { LatencyLimit, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { batchOf } from "../evaluation-data.js";
import { watchConditions } from "../measure/conditions.js";
import { usedProvider } from "../measure/latency.js";
import { timedModels } from "../measure/timed-models.js";
import { asDelivered } from "../model-runs.js";
import type { RunResult, VerdictReason } from "../result.js";
import { RunRecord, refuseInterrupted } from "../run-record.js";
import { budgetWord } from "../verdict/budget-word.js";
import { verdictOfReasons } from "../verdict/reasons-verdict.js";
import { readArrivalTrace } from "./arrival-trace.js";
import { findMaxRate, type RateSearch, triedRate } from "./find-max-rate.js";
import { judgeLoad } from "./judge-load.js";
import type { LoadFacts, ModelLoadFacts } from "./load-facts.js";
import { LEAST_REQUESTS, type SentLoad, type ServedLoad, serveLoad } from "./serve-load.js";

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

/** As many as are held with their times. */
const MOST_REQUESTS = 5_000_000;

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
          const served = await serveLoad(server, offered, PATIENCE * durationMs, record.progress);
          if (served.durationMs < durationMs) record.warn(cutShort(model.path, offered, served));
          const { latencies, waits, services } = served.counted;
          const name = basename(model.path);
          config.onSeries?.({ name, samplesMs: latencies });
          config.onSeries?.({ name: `${name}:waiting`, samplesMs: waits });
          config.onSeries?.({ name: `${name}:served`, samplesMs: services });
          reasons.push(...named(judgeLoad(served.summary, latencies, slo, rate)));
          const maxRate = config.findMaxRate
            ? await findMaxRate(server, searchFrom(offered, served, config), record)
            : null;
          if (maxRate?.isCutShort) record.warn(searchCutShort(model.path));
          return { model, ...served.summary, peakRssBytes: served.peakRssBytes, ...(maxRate && { maxRate }) };
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

interface OfferedLoad extends SentLoad {
  readonly rate: number;
  readonly kind: LoadFacts["arrivals"];
}

function offeredLoad({ offered, slo, runtime: { seed, benchMs } }: LoadConfig): OfferedLoad {
  if ("trace" in offered) {
    const arrivalsMs = readArrivalTrace(offered.trace, offered.untilMs);
    return { arrivalsMs, durationMs: arrivalsMs.at(-1)!, forming: 0, rate: rateOf(arrivalsMs), kind: "trace" };
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
    const needed = budgetWord((1000 * likelyEnough(slo)) / rate);
    throw new InferOptError(
      "LOAD_TOO_FEW",
      "usage",
      `${rate} requests a second for ${benchMs / 1000} s are ${arrivalsMs.length}, too few to say anything of`,
      { hint: `Say --budget ${needed} or more.`, fields: { rate, requests: arrivalsMs.length } },
    );
  }
  return { arrivalsMs, durationMs: benchMs, rate, kind };
}

/** So many arrive and count in the mean that those by chance are enough, and as the limits need where no request is late. */
function likelyEnough(slo: readonly LatencyLimit[]): number {
  const counted = Math.max(
    LEAST_REQUESTS,
    ...slo.map(({ percentile }) => queriesNeeded(0, percentileShares[percentile])),
  );
  return (counted + 3 * Math.sqrt(counted)) / COUNTED_SHARE;
}

/** Longer than so many times the time in which they arrive nobody waits for requests that queue up. */
const PATIENCE = 3;

const cutShort = (path: string, { arrivalsMs }: OfferedLoad, { requests, durationMs }: ServedLoad): string =>
  `${path} serves far less than arrives: the first ${requests} of ${arrivalsMs.length} requests were sent, those of ${Number((durationMs / 1000).toPrecision(2))} s`;

/** Of the budget, for the search. */
const SEARCH_BUDGETS = 3;

/** What the declared rate showed is the first of the trials, unless it showed nothing, or was a recording, which has bursts of its own. */
function searchFrom({ rate, kind }: OfferedLoad, served: ServedLoad, { runtime, slo }: LoadConfig): RateSearch {
  const search = { slo, seed: runtime.seed, budgetMs: SEARCH_BUDGETS * runtime.benchMs };
  if (kind === "trace") return { ...search, kind: "poisson", known: null };
  const known = triedRate(rate, served, slo);
  return { ...search, kind, known: known.status === "inconclusive" ? null : known };
}

const searchCutShort = (path: string): string =>
  `the search for the highest rate of ${path} ended with its time, which is ${SEARCH_BUDGETS} times --budget: say more`;
