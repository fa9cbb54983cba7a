/** From limits and measurements to a verdict: pure, so that every rule can be tested without running anything. */
import { type PercentileBounds, percentileShares, percentileText } from "../../base/percentiles.js";
import { leastCountFor } from "../../base/statistics.js";
import { decide } from "../../bench/index.js";
import type { DropLimit, LatencyLimit, Limits } from "../config.js";
import type { LatencyFacts, Outcome, Percentiles, Verdict, VerdictReason } from "../result.js";
import { type AccuracyMeasure, defaultMaxDrop, judgeAccuracy } from "./accuracy-limit.js";
import { type SearchEnd, withoutSearch, withSearchEnd } from "./search-end.js";
import { timeRemark, timesToNarrow, timesToTell, timesToTellRatio } from "./time-to-tell.js";

export type { AccuracyMeasure } from "./accuracy-limit.js";

/** Latency of one candidate with what a judge needs besides. */
export interface LatencyMeasure {
  readonly facts: LatencyFacts;
  /** Of the candidate, in milliseconds; one-sided, each end at 95 %. */
  readonly bounds: PercentileBounds;
}

export interface Evidence {
  /** null: not measured. */
  readonly accuracy: AccuracyMeasure | null;
  readonly latency: LatencyMeasure | null;
  /** Model files with their external data. */
  readonly bytes: { readonly baseline: number; readonly candidate: number };
  /** The same as `gzip` makes them: what counts where zeros are what was wanted. */
  readonly compressed?: { readonly baseline: number; readonly candidate: number };
  /** What speaks against the candidate where it is to run, and cannot be measured here. */
  readonly elsewhere?: VerdictReason | null;
  /** Why its outputs are no answer at all, whatever the limits. */
  readonly nonsense?: VerdictReason | null;
  /** Of the search that found nothing more accurate; null where there was none. */
  readonly search?: SearchEnd | null;
}

export interface VerdictOptions {
  /** A candidate without gain is refused; what counts as gain is the goal. */
  readonly gainRequired: boolean;
  readonly goal: "speed" | "size";
  /** Whether one that is smaller and clearly slower is a gain in size; true when absent. */
  readonly mayBeSlower?: boolean;
  /** What "cannot tell" is worth: a failure of its own, or a warning. "fail" when absent. */
  readonly inconclusive?: "fail" | "warn";
}

export interface Ruling {
  readonly verdict: Verdict;
  readonly warnings: readonly string[];
}

/**
 * Least speedup that the lower end of the interval must reach to be called a gain, and least ratio of sizes where size is the goal.
 * Below 2 % a difference is within what another build, heap layout or day brings, and
 * not worth a second model file.
 */
export const leastGain = 1.02;

/** Ends of an interval of the speedup that lie further apart than this say more about the machine than about the model. */
const wideInterval = 1.25;

const isMissed = ({ status }: VerdictReason): boolean => status === "missed";

/** Where several outcomes apply, the first of `missed accuracy, missed latency or size, no gain, inconclusive` wins. */
export function judge(limits: Limits, evidence: Evidence, options: VerdictOptions): Ruling {
  const warnings: string[] = [];
  const gain = options.gainRequired ? [gainReason(evidence, options)] : [];
  const isUnsearched = evidence.search === null && options.goal === "speed" && gain.some(isMissed);
  const accuracy = [
    ...(evidence.nonsense ? [evidence.nonsense] : []),
    ...(evidence.elsewhere ? [evidence.elsewhere] : []),
    ...accuracyReasons(limits, evidence, warnings).map((reason) =>
      isUnsearched && isMissed(reason) ? withoutSearch(reason) : reason,
    ),
  ];
  const speed = [
    ...speedupReasons(limits, evidence),
    ...sloReasons(limits, evidence),
    ...sizeReasons(limits, evidence),
  ];
  const reasons = [...accuracy, ...speed, ...gain];

  let outcome: Outcome = "met";
  if (accuracy.some(isMissed)) outcome = "accuracy";
  else if (speed.some(isMissed)) outcome = "latency";
  else if (gain.some(isMissed)) outcome = "no-gain";
  else if (reasons.some(({ status }) => status === "inconclusive")) outcome = "inconclusive";

  const remark = evidence.accuracy?.facts.kind === "smoke" ? "accuracy was not judged: the inputs were made up" : null;
  const summary = summarize(outcome, reasons) + (remark && outcome === "met" ? ` (${remark})` : "");
  if (remark) warnings.push(`${remark}; this was a smoke test`);
  if (options.goal === "size" && outcome === "met") warnings.push(...slowdown(evidence));
  if (outcome === "inconclusive" && options.inconclusive === "warn") {
    warnings.push(`${summary}; let pass as asked`);
    return { verdict: { status: "inconclusive", outcome: "met", reasons, summary }, warnings };
  }
  const status = outcome === "met" ? "pass" : outcome === "inconclusive" ? "inconclusive" : "fail";
  return { verdict: { status, outcome, reasons, summary }, warnings };
}

/** Of a model that stays as it is, where no limit is in milliseconds: it is as fast and as large as it was, which takes no timing to say. */
export function judgeUnchanged(limits: Limits, bytes: number, why: string): Verdict {
  const { minSpeedup } = limits;
  const speed: VerdictReason[] =
    minSpeedup === null
      ? []
      : [
          {
            ...{ limit: "min-speedup", wanted: minSpeedup, got: 1, unit: "times" },
            status: minSpeedup > 1 ? "missed" : "met",
            text: `the model stays as it is, at least ${ratio(minSpeedup)}x wanted`,
          },
        ];
  const size = sizeReasons(limits, { bytes: { baseline: bytes, candidate: bytes } });
  const missed = [...speed, ...size].find(isMissed);
  const found = `nothing was found that pays: ${why}`;
  return {
    status: "fail",
    outcome: missed ? "latency" : "no-gain",
    reasons: [...speed, ...size],
    summary: missed ? `${missed.limit} missed: ${missed.text}; ${found}` : found,
  };
}

function accuracyReasons(
  { maxDrop, confidence }: Limits,
  { accuracy, search }: Evidence,
  warnings: string[],
): VerdictReason[] {
  if (maxDrop === "none") return [];
  if (!accuracy)
    return maxDrop === null
      ? []
      : [notMeasured("max-drop", wantedDrop(maxDrop), dropUnit(maxDrop), "accuracy was not measured")];
  // Nobody asked about accuracy, and made-up inputs could not answer.
  if (maxDrop === null && accuracy.facts.kind === "smoke") return [];
  const ruling = judgeAccuracy(accuracy, maxDrop ?? defaultMaxDrop, confidence);
  warnings.push(...ruling.warnings);
  return [search && ruling.reason.status === "missed" ? withSearchEnd(ruling.reason, search) : ruling.reason];
}

/** A percentage is told as such where nothing says of what. */
const dropUnit = (limit: Exclude<DropLimit, "none">): Unit => ("percent" in limit ? "percent" : "metric");
const wantedDrop = (limit: Exclude<DropLimit, "none">): number => ("percent" in limit ? limit.percent : limit.absolute);

function speedupReasons({ minSpeedup }: Limits, { latency }: Evidence): VerdictReason[] {
  if (minSpeedup === null) return [];
  if (!latency) return [notMeasured("min-speedup", minSpeedup, "times", "the models were not timed")];
  const { speedup, speedupInterval } = latency.facts;
  const reason = {
    limit: "min-speedup",
    wanted: minSpeedup,
    got: speedup,
    status: decide(speedupInterval, minSpeedup),
    unit: "times",
    interval: speedupInterval,
    text: `${speedupText(latency.facts)}, at least ${ratio(minSpeedup)}x wanted`,
  } as const;
  return [
    reason.status === "inconclusive"
      ? undecided(reason, timesToTellRatio(speedup, speedupInterval, minSpeedup))
      : reason,
  ];
}

const undecided = (
  reason: Omit<VerdictReason, "status">,
  longer: number | null | undefined,
  why = "the interval holds the limit",
): VerdictReason => ({
  ...reason,
  status: "inconclusive",
  text: `${reason.text}; ${why}: ${timeRemark(longer)}`,
  ...(longer !== undefined && { longer }),
});

function sloReasons({ slo }: Limits, { latency }: Evidence): VerdictReason[] {
  return slo.map((limit) =>
    latency
      ? judgePercentile(limit, latency.facts.candidate, latency.bounds, latency.facts.runs)
      : notMeasured(`slo ${limit.percentile}`, limit.ms, "ms", "the models were not timed"),
  );
}

/** What was measured of a percentile that has a limit; whoever judges it adds a status, and a text of what it went by. */
export function percentileReason(
  { percentile, ms }: LatencyLimit,
  measured: Percentiles,
  bounds: LatencyMeasure["bounds"],
): Omit<VerdictReason, "status"> {
  const got = measured[`${percentile}Ms`] ?? null;
  const { low, high } = bounds[percentile];
  const name = percentileText(percentile);
  const wanted = `at most ${time(ms)} wanted`;
  const found = (): string => {
    if (got !== null) return `${name} is ${time(got)} (${range(low, high)}), ${wanted}`;
    // A bound from below needs fewer runs than the percentile itself.
    return low === null ? `${name}: ${wanted}` : `${name} is above ${time(low)}, ${wanted}`;
  };
  return {
    limit: `slo ${percentile}`,
    wanted: ms,
    got,
    text: found(),
    unit: "ms",
    interval: [low, high],
  };
}

/** One limit on a percentile, by its bounds. */
export function judgePercentile(
  limit: LatencyLimit,
  measured: Percentiles,
  bounds: LatencyMeasure["bounds"],
  runs: number,
): VerdictReason {
  const { percentile, ms } = limit;
  const reason = percentileReason(limit, measured, bounds);
  const { low, high } = bounds[percentile];
  if (low !== null && low > ms) return { ...reason, status: "missed" };
  if (reason.got === null) {
    const needed = leastCountFor(percentileShares[percentile]);
    const text = `${percentileText(percentile)} takes at least ${needed} runs and there were ${runs}: time longer`;
    return { ...reason, status: "inconclusive", text, longer: needed / runs };
  }
  if (high !== null && high <= ms) return { ...reason, status: "met" };
  const why = high === null ? "the runs are too few for an upper bound" : undefined;
  return undecided(reason, timesToTell(reason.got, [low, high], ms), why);
}

function range(low: number | null, high: number | null): string {
  if (low !== null && high !== null) return `between ${time(low)} and ${time(high)}`;
  if (low !== null) return `above ${time(low)}`;
  return high === null ? "without bounds" : `below ${time(high)}`;
}

function sizeReasons({ maxSizeBytes }: Limits, { bytes }: Pick<Evidence, "bytes">): VerdictReason[] {
  if (maxSizeBytes === null) return [];
  return [
    {
      limit: "max-size",
      wanted: maxSizeBytes,
      got: bytes.candidate,
      status: bytes.candidate <= maxSizeBytes ? "met" : "missed",
      unit: "bytes",
      text: `the model takes ${size(bytes.candidate)}, at most ${size(maxSizeBytes)} wanted`,
    },
  ];
}

function gainReason(
  { latency, bytes, compressed }: Evidence,
  { goal, mayBeSlower = true }: VerdictOptions,
): VerdictReason {
  if (goal === "size") {
    const { baseline, candidate } = compressed ?? bytes;
    const isGain = baseline >= leastGain * candidate;
    const isSlower = !mayBeSlower && latency !== null && latency.facts.speedupInterval[1] < 1;
    const objection = !isGain
      ? `: ${candidate < baseline ? `a gain takes a file ${ratio(leastGain)}x smaller` : "not smaller"}`
      : isSlower
        ? `, but it is slower: ${speedupText(latency.facts)}`
        : "";
    return {
      limit: "gain",
      wanted: Math.floor(baseline / leastGain),
      got: candidate,
      status: objection === "" ? "met" : "missed",
      unit: "bytes",
      text: `${size(baseline)}${compressed ? " compressed" : ""} became ${size(candidate)}${objection}`,
    };
  }
  if (!latency) return notMeasured("gain", leastGain, "times", "the models were not timed, so no gain was shown");
  const { speedup, speedupInterval } = latency.facts;
  const facts = {
    limit: "gain",
    wanted: leastGain,
    got: speedup,
    unit: "times",
    interval: speedupInterval,
    text: speedupText(latency.facts),
  } as const;
  const reason = (status: VerdictReason["status"], remark: string): VerdictReason => ({
    ...{ ...facts, status },
    text: facts.text + remark,
  });
  const [low, high] = speedupInterval;
  if (low >= leastGain) return reason("met", "");
  if (high < 1) return reason("missed", ": slower than the original");
  // It looks fast enough and may not be, or the runs differ so much that nothing can be seen: that is for more runs to tell.
  if (speedup >= leastGain) return undecided(facts, timesToTellRatio(speedup, speedupInterval, leastGain));
  const isWide = low < 1 && high >= leastGain && high > wideInterval * low;
  if (isWide) return undecided(facts, timesToNarrow(speedupInterval, wideInterval));
  return reason("missed", `: no gain, which takes ${ratio(leastGain)}x at the lower end of the interval`);
}

/** Size was asked for, and what it costs must be known. */
function slowdown({ latency }: Evidence): string[] {
  if (!latency || latency.facts.speedupInterval[1] >= 1) return [];
  return [`smaller, and slower than the original: ${speedupText(latency.facts)}`];
}

type Unit = NonNullable<VerdictReason["unit"]>;

const notMeasured = (limit: string, wanted: number, unit: Unit, text: string): VerdictReason => ({
  limit,
  wanted,
  got: null,
  status: "inconclusive",
  text,
  unit,
});

function summarize(outcome: Outcome, reasons: readonly VerdictReason[]): string {
  const first = (status: VerdictReason["status"], limits?: readonly string[]): string =>
    reasons.find((reason) => reason.status === status && (!limits || limits.includes(reason.limit)))?.text ?? "";
  switch (outcome) {
    case "accuracy":
      return `accuracy limit missed: ${first("missed", ["sense", "saturation", "max-drop"])}`;
    case "latency": {
      const missed = reasons.find(
        ({ limit, status }) => status === "missed" && !["sense", "saturation", "max-drop", "gain"].includes(limit),
      )!;
      return `${missed.limit} missed: ${missed.text}`;
    }
    case "no-gain":
      return `no gain: ${first("missed", ["gain"])}`;
    case "inconclusive":
      return `inconclusive: ${first("inconclusive")}`;
    case "met":
      return reasons.length === 0 ? "no limits were declared" : "every limit is met";
  }
}

const ratio = (value: number): string => value.toFixed(2);
const speedupText = ({ speedup, speedupInterval: [low, high] }: LatencyFacts): string =>
  `${ratio(speedup)}x as fast (interval ${ratio(low)} to ${ratio(high)})`;
/** As tables have it: whole milliseconds from a thousand on. */
const time = (ms: number): string => `${ms >= 999.5 ? Math.round(ms) : Number(ms.toPrecision(3))} ms`;

function size(bytes: number): string {
  if (bytes < 1e3) return `${bytes} bytes`;
  const [unit, scale] = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${Number((bytes / (scale as number)).toPrecision(4))} ${unit}`;
}
