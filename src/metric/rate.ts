/** What a percentage limit means for a metric: points of a rate, or change relative to the baseline. */
import type { MetricRef } from "./metric.js";

/**
 * True when `--max-drop 0.5%` means 0.005 of the metric itself. Of the built-in ones those
 * that live in 0..1; a module's when every score given, of all models, lies in 0..1.
 */
export function isRate(ref: MetricRef, scores: readonly Float64Array[]): boolean {
  if (ref.kind === "builtin") return ref.name !== "sqnr" && ref.name !== "mse";
  return scores.every((row) => row.every((score) => score >= 0 && score <= 1));
}
