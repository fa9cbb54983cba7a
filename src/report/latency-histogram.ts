/** How many runs took so long, before and after, from the quantiles that a result keeps; the tail has an end of the axis of its own. */
import type { LatencyDistribution, LatencyFacts } from "../pipeline/result.js";
import { type Range, rangeOf, valueAt } from "./range.js";

/** Times that span much are told apart by their ratio. */
const LOGARITHMIC_FROM = 6;
/** Where most of the runs end, and how much wider than them the axis has to be for a tail of its own. */
const BODY = 0.9;
const LONG_TAIL = 1.6;
const BODY_SHARE = 0.75;

/** Of all runs of both models, the slowest among them. */
export function latencyRange({ at, baselineMs, candidateMs }: LatencyDistribution): Range {
  const all = [...baselineMs, ...candidateMs].filter((value) => value > 0);
  if (all.length === 0) return { low: 0, high: 1 };
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const upTo = at.filter((share) => share <= BODY).length - 1;
  const body = Math.max(baselineMs[upTo] ?? most, candidateMs[upTo] ?? most);
  const bend = least + (body - least) * 1.15;
  if (body / least >= LOGARITHMIC_FROM) return { low: least / 1.1, high: most * 1.1, isLogarithmic: true };
  if (bend > least && most - least > LONG_TAIL * (bend - least))
    return {
      low: Math.max(0, least - (bend - least) * 0.02),
      high: most * 1.02,
      bend: { at: bend, share: BODY_SHARE },
    };
  const { low, high } = rangeOf([least, most], 0.02);
  return { low: Math.max(0, low), high };
}

export interface Bin {
  readonly fromMs: number;
  readonly toMs: number;
  /** Shares of the runs. */
  readonly before: number;
  readonly after: number;
}

/** Equally wide on the axis. */
export function latencyBins({ distribution, runs }: LatencyFacts, x: Range, count: number): Bin[] {
  if (!distribution) return [];
  const { at, baselineMs, candidateMs } = distribution;
  const edges = Array.from({ length: count + 1 }, (_, i) => valueAt(i / count, x));
  const before = sharesUpTo(edges, at, baselineMs);
  const after = sharesUpTo(edges, at, candidateMs);
  const between = (shares: readonly number[], i: number): number => {
    const part = shares[i + 1]! - shares[i]!;
    // Between two quantiles far apart lies less than a run in each bin: nothing to see.
    return part < 0.5 / runs ? 0 : part;
  };
  return edges.slice(1).map((toMs, i) => ({
    ...{ fromMs: edges[i]!, toMs, before: between(before, i), after: between(after, i) },
  }));
}

/** Shares of the runs up to each of the edges, by straight lines between quantiles. */
function sharesUpTo(edges: readonly number[], at: readonly number[], valuesMs: readonly number[]): number[] {
  return edges.map((edge) => {
    const above = valuesMs.findIndex((value) => value > edge);
    if (above < 0) return 1;
    if (above === 0) return 0;
    const [from, to] = [valuesMs[above - 1]!, valuesMs[above]!];
    return at[above - 1]! + ((at[above]! - at[above - 1]!) * (edge - from)) / (to - from);
  });
}
