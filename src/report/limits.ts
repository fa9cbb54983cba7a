/** The declared limits and what became of each, and the outcome, in the words that every format shares. */
import type { RunResult, VerdictReason } from "../pipeline/result.js";
import { afterOf, beforeOf } from "../pipeline/sides.js";
import { bytes, ratio, score, significant } from "./numbers.js";

export interface LimitRow {
  readonly limit: string;
  readonly status: VerdictReason["status"];
  /** In words, with units and interval. */
  readonly text: string;
  /** The same as figures; null in results of earlier versions, and of what is no limit on a number. */
  readonly figures: LimitFigures | null;
}

export interface LimitFigures {
  readonly wanted: string;
  readonly got: string;
  /** Empty where there is none. */
  readonly interval: string;
}

export const limitRows = ({ verdict }: RunResult): LimitRow[] =>
  verdict.reasons.map((reason) => ({
    ...{ limit: reason.limit, status: reason.status, text: reason.text },
    figures: figuresOf(reason),
  }));

/** Short enough for a column. */
export const statusWord: Readonly<Record<VerdictReason["status"], string>> = {
  met: "ok",
  missed: "miss",
  inconclusive: "?",
};

/** PASS, FAIL, or what else the outcome is called. */
export function verdictWord({ verdict }: RunResult): string {
  if (verdict.outcome === "no-gain") return "NO GAIN";
  return { pass: "PASS", fail: "FAIL", inconclusive: "INCONCLUSIVE" }[verdict.status];
}

/**
 * The verdict in a sentence that says how much: without the word that stands before it, and with the gain where it only
 * tells that limits are met.
 */
export function verdictSentence(result: RunResult): string {
  const said = result.verdict.summary.replace(/^(inconclusive|no gain): /, "");
  const gained = result.verdict.outcome === "met" && !/\d/.test(said) ? gains(result) : [];
  return gained.length === 0 ? said : `${said}: ${gained.join(", ")}`;
}

/** The same, or null where the limits below it are told in full and say so. */
export const verdictSummary = (result: RunResult): string | null =>
  result.verdict.reasons.some(({ text }) => text !== "" && result.verdict.summary.includes(text))
    ? null
    : verdictSentence(result);

/** Which limits were missed, and which are open; empty where all are met. */
export function openLimits({ verdict }: RunResult): string {
  const words = { missed: "missed", inconclusive: "cannot be told" } as const;
  return (["missed", "inconclusive"] as const)
    .flatMap((status) => {
      const names = verdict.reasons.filter((reason) => reason.status === status).map(({ limit }) => limit);
      return names.length === 0 ? [] : [`${names.join(", ")} ${words[status]}`];
    })
    .join("; ");
}

/** Of two models: what the second one gained, in as few words as there are. */
function gains(result: RunResult): string[] {
  const { latency, accuracy } = result;
  const [before, after] = [beforeOf(result), afterOf(result)];
  const times = after === null ? 1 : before.bytes / Math.max(1, after.bytes);
  return [
    ...(latency ? [`${ratio(latency.speedup)} as fast`] : []),
    ...(ratio(times) === ratio(1) ? [] : [times > 1 ? `${ratio(times)} smaller` : `${ratio(1 / times)} larger`]),
    ...(accuracy && accuracy.kind !== "smoke"
      ? [`${accuracy.metric} ${score(accuracy.baseline)} -> ${score(accuracy.candidate)}`]
      : []),
  ];
}

type Unit = NonNullable<VerdictReason["unit"]>;

const units: Readonly<Record<Unit, { readonly show: (value: number) => string; readonly unit: string }>> = {
  points: { show: pointDigits, unit: " pt" },
  percent: { show: pointDigits, unit: " %" },
  metric: { show: digits, unit: "" },
  times: { show: (value) => value.toFixed(2), unit: "x" },
  ms: { show: (value) => significant(value), unit: " ms" },
  bytes: { show: bytes, unit: "" },
  "a second": { show: (value) => significant(value), unit: " a second" },
};

function figuresOf({ unit, wanted, got, interval }: VerdictReason): LimitFigures | null {
  if (unit === undefined) return null;
  const { show, unit: word } = units[unit];
  return {
    wanted: show(wanted) + word,
    got: got === null ? "-" : show(got) + word,
    interval: interval === undefined ? "" : intervalText(interval, show),
  };
}

/** Open where the runs do not reach that far. */
function intervalText([low, high]: readonly [number | null, number | null], show: (value: number) => string): string {
  if (low !== null && high !== null) return `${show(low)} .. ${show(high)}`;
  if (low !== null) return `${show(low)} or more`;
  return high === null ? "" : `up to ${show(high)}`;
}

/** Of a percentage: below a ten-thousandth of a point there is nothing but the rounding of sums. */
function pointDigits(value: number): string {
  return digits(Math.round(value * 1e4) / 1e4);
}

/** At most three that matter: an end of an interval is never known better. */
function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}
