/** The declared limits and what became of each, and the outcome, in the words that every format shares. */
import type { RunResult, VerdictReason } from "../pipeline/result.js";
import { bytes, significant } from "./numbers.js";

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

/** The verdict in a sentence, or null where the limits below it say the same. */
export const verdictSummary = ({ verdict }: RunResult): string | null =>
  verdict.reasons.some(({ text }) => text !== "" && verdict.summary.includes(text)) ? null : verdict.summary;

type Unit = NonNullable<VerdictReason["unit"]>;

const units: Readonly<Record<Unit, { readonly show: (value: number) => string; readonly unit: string }>> = {
  points: { show: digits, unit: " pt" },
  percent: { show: digits, unit: " %" },
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

/** At most three that matter: an end of an interval is never known better. */
function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}
