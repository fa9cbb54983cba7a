/** Times candidates against the original and puts what came out in the words of the result. */
import { percentileShares } from "../../base/percentiles.js";
import { ascending, nearestRank } from "../../base/statistics.js";
import {
  type CandidateLatency,
  compareLatency,
  type LatencyComparison,
  type LatencyPercentiles,
  type ModelLatency,
  type ProcessSeries,
  percentileBounds,
} from "../../bench/index.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { LatencyLimit, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { batchOf } from "../evaluation-data.js";
import { asDelivered } from "../model-runs.js";
import type { LatencyFacts } from "../result.js";
import { refuseInterrupted } from "../run-record.js";
import { type LatencyMeasure, leastGain } from "../verdict/verdict.js";
import { timingSoFar } from "./timing-so-far.js";

export interface LatencyRequest {
  readonly baseline: string;
  /** None: the original is timed alone. */
  readonly candidates: readonly string[];
  readonly data: DatasetRef;
  readonly runtime: RuntimeConfig;
  /** Timing may stop as soon as every candidate is known to reach this, or not to; the least gain when null. */
  readonly minSpeedup: number | null;
  /** Limits on percentiles need the tail: with any, the whole budget is used. */
  readonly slo: readonly LatencyLimit[];
  /** A verdict is wanted, soon. */
  readonly isQuick?: boolean;
  /** Times of an earlier comparison: see LatencyOptions. */
  readonly earlier?: readonly ProcessSeries[];
  /** Also time the original against a copy of itself. */
  readonly noiseCheck?: boolean;
  readonly onProgress?: (done: number, planned: number) => void;
}

export interface Latencies {
  readonly comparison: LatencyComparison;
  /** One for each candidate. */
  readonly candidates: readonly LatencyMeasure[];
  readonly warnings: readonly string[];
}

/** Rejects with INTERRUPTED, or whatever the runtime rejects with. */
export async function measureLatency(context: RunContext, request: LatencyRequest): Promise<Latencies> {
  const { runtime, signal } = context;
  const { baseline, candidates, data, slo } = request;
  let comparison: LatencyComparison;
  try {
    comparison = await compareLatency(runtime, {
      baseline,
      candidates,
      data,
      session: asDelivered(request.runtime),
      seed: request.runtime.seed,
      budgetMs: request.runtime.benchMs,
      minSpeedup: request.minSpeedup ?? leastGain,
      ...(slo.length > 0 && {
        minRuns: Number.POSITIVE_INFINITY,
        tail: Math.max(...slo.map(({ percentile }) => percentileShares[percentile])),
      }),
      ...(request.isQuick && { isQuick: true }),
      ...(request.earlier && { earlier: request.earlier }),
      ...(request.noiseCheck && { noiseCheck: true }),
      ...(request.onProgress && { onProgress: request.onProgress }),
      onTimes: timingSoFar(context),
      signal,
      clock: context.now,
    });
  } catch (thrown) {
    // An aborted signal throws what it was aborted with, which may be anything.
    refuseInterrupted(signal);
    throw thrown;
  }
  return {
    comparison,
    candidates: comparison.candidates.map((candidate) => ({
      facts: factsOf(comparison, candidate, request, usedProvider(context, request.runtime)),
      bounds: percentileBounds(candidate.samplesMs),
    })),
    warnings: warningsOf(comparison),
  };
}

function factsOf(
  { runs, baseline }: LatencyComparison,
  candidate: CandidateLatency,
  { data, runtime: { threads } }: LatencyRequest,
  provider: string,
): LatencyFacts {
  return {
    provider,
    threads,
    batch: batchOf(data),
    runs,
    baseline: percentilesOf(baseline),
    candidate: percentilesOf(candidate),
    speedup: candidate.speedup,
    speedupInterval: candidate.speedupInterval,
    distribution: {
      at: shares,
      baselineMs: quantilesOf(baseline.samplesMs),
      candidateMs: quantilesOf(candidate.samplesMs),
    },
  };
}

const shares = [...Array.from({ length: 100 }, (_, percent) => percent / 100), 0.995, 0.999, 1];

/** As the percentiles beside them are computed, so that these lie on the curve; to the nanosecond. */
function quantilesOf(samplesMs: ArrayLike<number>): number[] {
  const sorted = ascending(samplesMs);
  return shares.map((share) => Number(nearestRank(sorted, share).toFixed(6)));
}

/** The provider that did the work, where the one asked for was replaced. */
export const usedProvider = ({ runtime }: RunContext, { provider }: RuntimeConfig): string =>
  runtime.fallbacks().find(({ wanted }) => wanted === provider)?.used ?? provider;

export const percentilesOf = ({ p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, bounds }: ModelLatency): LatencyPercentiles => ({
  ...{ p50Ms, p90Ms, p95Ms, p99Ms, p999Ms },
  bounds,
});

/** Of a warm-up that ended by its time. */
export const UNSETTLED =
  "latency had not settled when timing began, so times may still be falling: say more with --budget, or let the machine come to rest";

function warningsOf({ settled, noise }: LatencyComparison): string[] {
  const warnings: string[] = [];
  if (!settled) warnings.push(UNSETTLED);
  if (noise?.noisy) warnings.push(`this machine is too noisy for a verdict on speed: ${noise.noisy}`);
  return warnings;
}
