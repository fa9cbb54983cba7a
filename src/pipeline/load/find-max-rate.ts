/**
 * `--find-max-rate`: the highest rate at which every limit is met. Halves the distance, by factors, between what passes and
 * what does not, until both lie close together or the time for it is spent.
 */
import { percentileShares } from "../../base/percentiles.js";
import { seededRandom } from "../../base/random.js";
import { type ArrivalKind, arrivals, queriesNeeded, type Server } from "../../bench/index.js";
import type { LatencyLimit } from "../config.js";
import { type RunRecord, refuseInterrupted } from "../run-record.js";
import { worstOf } from "../verdict/reasons-verdict.js";
import { judgeLoad } from "./judge-load.js";
import type { MaxRateFacts, TriedRate } from "./load-facts.js";
import { type ServedLoad, serveLoad } from "./serve-load.js";

export interface RateSearch {
  readonly kind: ArrivalKind;
  readonly slo: readonly LatencyLimit[];
  readonly seed: number;
  /** For the whole search. */
  readonly budgetMs: number;
  /** What is known of a rate already. */
  readonly known: TriedRate | null;
}

/** Rates are told apart to within this factor. */
const FINE_ENOUGH = 1.05;
const MOST_TRIALS = 9;

/** Rejects as serving does, and with INTERRUPTED. */
export async function findMaxRate(server: Server, search: RateSearch, record: RunRecord): Promise<MaxRateFacts> {
  const { now } = record.context;
  const until = now() + search.budgetMs;
  const capacity = (1000 * server.processes) / server.serviceMs;
  const tried: TriedRate[] = search.known ? [search.known] : [];
  let isCutShort = false;
  for (let trials = 0; trials < MOST_TRIALS; trials++) {
    const rate = nextRate(passedOf(tried), failedOf(tried), capacity);
    if (rate === null) break;
    record.doing("bench", `${Number(rate.toPrecision(3))} requests a second`);
    const { trial, isDecided } = await tryRate(server, search, { rate, seed: search.seed + trials + 1, until }, record);
    isCutShort = !isDecided;
    if (trial) tried.push(trial);
    if (isCutShort) break;
  }
  // What there was no time to decide is not called too high.
  const decided = isCutShort && tried.at(-1)?.status === "inconclusive" ? tried.slice(0, -1) : tried;
  return { perSecond: passedOf(tried), failedPerSecond: failedOf(decided), isCutShort, tried };
}

const passedOf = (tried: readonly TriedRate[]): number | null => {
  const passed = tried.filter(({ status }) => status === "met").map(({ perSecond }) => perSecond);
  return passed.length === 0 ? null : Math.max(...passed);
};

/** The lowest above what passed: a rate below may have been unlucky. */
const failedOf = (tried: readonly TriedRate[]): number | null => {
  const passed = passedOf(tried) ?? 0;
  const failed = tried.filter(({ status, perSecond }) => status !== "met" && perSecond > passed);
  return failed.length === 0 ? null : Math.min(...failed.map(({ perSecond }) => perSecond));
};

/** null when there is nothing to tell apart any more. `capacity`: as many as were served back to back, which waiting requests would need. */
function nextRate(passed: number | null, failed: number | null, capacity: number): number | null {
  if (passed === null) return failed === null ? capacity / 2 : Math.min(capacity / 2, failed / 4);
  if (failed !== null) return failed / passed < FINE_ENOUGH ? null : Math.sqrt(passed * failed);
  const higher = Math.max(capacity / 2, passed * Math.SQRT2);
  return passed < capacity ? Math.min(capacity, higher) : higher;
}

/** Far from the limit a short trial tells; one that does not is tried again for longer: taken for a failure, it would end the search far too low. */
const LENGTHS = [1, 2, 4] as const;
/** Of the time for the search, that the shortest trial takes at least, if so many requests do not come sooner. */
const LEAST_PART = 1 / 27;
const PLENTY = 100_000;
/** Requests that wait for more than so many times as long as they arrive need not be waited for. */
const PATIENCE = 2;

interface Trial {
  readonly rate: number;
  readonly seed: number;
  /** When the time for all trials is spent. */
  readonly until: number;
}

/** No trial where the time is too short for one; undecided where it is too short for a longer one that might tell. */
async function tryRate(
  server: Server,
  { kind, slo, budgetMs }: RateSearch,
  { rate, seed, until }: Trial,
  record: RunRecord,
): Promise<{ readonly trial: TriedRate | null; readonly isDecided: boolean }> {
  const { now, signal } = record.context;
  // No fewer requests than the declared percentiles need, whatever the rate.
  const leastMs = Math.max(Math.min(LEAST_PART * budgetMs, (1000 * PLENTY) / rate), (1000 * leastRequests(slo)) / rate);
  let trial: TriedRate | null = null;
  for (const length of LENGTHS) {
    const durationMs = length * leastMs;
    const leftMs = until - now();
    if (durationMs > leftMs) return { trial, isDecided: false };
    const sent = { arrivalsMs: arrivals(kind, rate, durationMs, seededRandom(seed)), durationMs };
    const served = await serveLoad(server, sent, Math.min(PATIENCE * durationMs, leftMs), record.progress);
    refuseInterrupted(signal);
    trial = triedRate(rate, served, slo);
    if (trial.status !== "inconclusive") break;
  }
  return { trial, isDecided: true };
}

export function triedRate(
  rate: number,
  { summary, counted }: Pick<ServedLoad, "summary" | "counted">,
  slo: readonly LatencyLimit[],
): TriedRate {
  const { latency, waiting } = summary;
  return { perSecond: rate, status: worstOf(judgeLoad(summary, counted.latencies, slo, rate)), latency, waiting };
}

/** As many as a percentile takes of which one is late. */
const leastRequests = (slo: readonly LatencyLimit[]): number =>
  Math.max(...slo.map(({ percentile }) => queriesNeeded(1, percentileShares[percentile])));
