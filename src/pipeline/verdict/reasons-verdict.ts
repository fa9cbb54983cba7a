/** One verdict out of limits on latency, each judged by itself. */
import type { Verdict, VerdictReason } from "../result.js";

/** The worst of them all: missed, then undecided, then met. */
export function worstOf(reasons: readonly VerdictReason[]): VerdictReason["status"] {
  const statuses = reasons.map(({ status }) => status);
  if (statuses.includes("missed")) return "missed";
  return statuses.includes("inconclusive") ? "inconclusive" : "met";
}

/** `met`: what to say when every limit is met. */
export function verdictOfReasons(
  reasons: readonly VerdictReason[],
  inconclusive: "fail" | "warn",
  met: string,
): Verdict {
  const status = worstOf(reasons);
  if (status === "met") return { status: "pass", outcome: "met", reasons, summary: met };
  const decisive = reasons.find((reason) => reason.status === status)!;
  const summary = `${decisive.limit} ${status}: ${decisive.text}`;
  if (status === "missed") return { status: "fail", outcome: "latency", reasons, summary };
  return { status: "inconclusive", outcome: inconclusive === "warn" ? "met" : "inconclusive", reasons, summary };
}
