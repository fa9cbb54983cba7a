/** The declared limits and what became of each, in the words that every format shares. */
import type { RunResult, VerdictReason } from "../pipeline/result.js";

export interface LimitRow {
  readonly limit: string;
  readonly status: VerdictReason["status"];
  /** In words, with units and interval. */
  readonly text: string;
}

export const limitRows = ({ verdict }: RunResult): LimitRow[] =>
  verdict.reasons.map(({ limit, status, text }) => ({ limit, status, text }));

/** PASS, FAIL, or what else the outcome is called. */
export function verdictWord({ verdict }: RunResult): string {
  if (verdict.outcome === "no-gain") return "NO GAIN";
  return { pass: "PASS", fail: "FAIL", inconclusive: "INCONCLUSIVE" }[verdict.status];
}

/** The verdict in a sentence, or null where the limits below it say the same. */
export const verdictSummary = ({ verdict }: RunResult): string | null =>
  verdict.reasons.some(({ text }) => text !== "" && verdict.summary.includes(text)) ? null : verdict.summary;
