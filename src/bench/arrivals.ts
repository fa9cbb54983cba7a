/** When requests arrive: moments in milliseconds from the start, ascending, whatever becomes of the requests before. */
import type { Random } from "../base/random.js";

export type ArrivalKind = "poisson" | "constant";

/** As many as fall into the time. Poisson: gaps are exponential with mean 1 / rate, so requests come in clusters as those of many users do. */
export function arrivals(kind: ArrivalKind, ratePerSecond: number, durationMs: number, random: Random): Float64Array {
  const gapMs = 1000 / ratePerSecond;
  const moments: number[] = [];
  // 1 - next() is never 0, so the logarithm is finite.
  const gap = (): number => (kind === "constant" ? gapMs : -Math.log(1 - random.next()) * gapMs);
  for (let at = gap(); at < durationMs; at += gap()) moments.push(at);
  return Float64Array.from(moments);
}

/** Requests a second that moments stand for, from the first to the last. */
export function rateOf(moments: Float64Array): number {
  const span = moments.length < 2 ? 0 : moments.at(-1)! - moments[0]!;
  return span > 0 ? (1000 * (moments.length - 1)) / span : 0;
}
