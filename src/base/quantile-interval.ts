/**
 * Intervals of quantiles of a series in time. Neighbouring latencies depend on each other: a burst of other load, a clock
 * that falls, a queue. Such a series says as much as a shorter one of independent values, and the interval is that of the
 * shorter one, free of assumptions on the distribution.
 *
 * Whether a value lies at most at the quantile is 0 or 1, and the interval is one of a share. Its variance is inflated by
 *
 *   f = 1 + 2 * (r(1) + r(2) + ...)        r: autocorrelation of these zeros and ones
 *
 * summed as long as pairs of r are positive and do not grow (Geyer 1992). n / f independent values take its place. What f - 1
 * rests on are the stretches above the quantile (or below, the rarer): the fewer, the wider, by Student's t.
 */
import { binomialAtMost } from "./binomial.js";
import { invariant } from "./errors.js";
import { mean, normalQuantile, studentQuantile, variance } from "./statistics.js";

/** null where the values do not reach that far. */
export interface Bounds {
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * Degrees of freedom that an independent stretch brings. Chosen by simulation (bench/trust/coverage.mjs): with 1 the
 * intervals of series with an autocorrelation of 0.9 hold the truth in 91 % instead of 95 %.
 */
const DEGREES = 1 / 3;

/**
 * The interval of each of the `ps`, `values` being in the order of time. Each end holds with (1 + confidence) / 2, so that one
 * of 0.9 has two bounds of 95 %.
 */
export function quantileIntervals(values: ArrayLike<number>, ps: readonly number[], confidence = 0.95): Bounds[] {
  invariant(values.length > 0, "quantiles of nothing");
  const sorted = Float64Array.from(values).sort();
  const tail = (1 - confidence) / 2;
  return ps.map((p) => {
    const n = Math.max(
      1,
      Math.round(values.length / inflation(values, atRank(sorted, p * (values.length + 1)), p, tail)),
    );
    // The ranks of so few values, where the same share of all values lies below.
    const scale = (sorted.length + 1) / (n + 1);
    const [low, high] = [tail, 1 - tail].map((share) => rankAt(n, p, share));
    return {
      low: low! < 1 ? null : atRank(sorted, low! * scale),
      high: high! > n ? null : atRank(sorted, high! * scale),
    };
  });
}

/**
 * On which side of `limit` the p-quantile of what the values come from lies, as sure as `confidence`; null where that is open.
 * Finds it where an interval of the quantile is still wide, for what is known of the values around the limit is more than
 * what is known of those around a far tail. The answer is a function of how many times as many values there were: were the
 * rest as these are, in the share above the limit and in how they depend on each other.
 */
export function quantileSide(
  values: ArrayLike<number>,
  p: number,
  limit: number,
  confidence = 0.95,
): (times?: number) => "above" | "below" | null {
  const total = values.length;
  let above = 0;
  for (let i = 0; i < total; i++) if (values[i]! > limit) above++;
  const tail = 1 - confidence;
  const sorted = Float64Array.from(values).sort();
  const atLimit = above === 0 ? 1 : inflation(values, limit, 1 - above / total, tail);
  // What depends on each other is seen around the limit and around the median, where there is more to see it by: nothing is
  // called below unless both allow it.
  const atMedian = inflation(values, atRank(sorted, (total + 1) / 2), 0.5, tail);
  const independent = (times: number, factor: number): number => Math.max(1, Math.round((times * total) / factor));
  return (times = 1) => {
    const n = independent(times, atLimit);
    const few = Math.floor((above / total) * n) - 1;
    if (few >= 0 && 1 - binomialAtMost(few, n, 1 - p) <= tail) return "above";
    const fewer = independent(times, Math.max(atMedian, atLimit));
    return binomialAtMost(Math.ceil((above / total) * fewer), fewer, 1 - p) <= tail ? "below" : null;
  };
}

/** By how much the variance of the share at most `value` is larger than that of independent values; at least 1. */
function inflation(values: ArrayLike<number>, value: number, p: number, tail: number): number {
  const n = values.length;
  const isBelow = Float64Array.from(values, (each) => (each <= value ? 1 : 0));
  const f = Math.max(1, longRunVariance(isBelow));
  if (f === 1) return 1;
  const stretches = (n * Math.min(p, 1 - p)) / f;
  // Satterthwaite's degrees: 1 is known, f - 1 is not.
  const degrees = Math.max(1, DEGREES * stretches * (f / (f - 1)) ** 2);
  return f * (studentQuantile(1 - tail, degrees) / normalQuantile(1 - tail)) ** 2;
}

/** Longer series are looked at in the means of stretches: what takes a square of the length would take minutes. */
const MOST_TERMS = 8192;

/**
 * n times the variance of the mean over the variance of a value: 1 + 2 * (r(1) + r(2) + ...). Means of stretches of m have what is left of it
 * when that of m values is taken out.
 */
function longRunVariance(series: Float64Array): number {
  const m = Math.ceil(series.length / MOST_TERMS);
  if (m === 1) return 2 * pairSum(series) - 1;
  const stretches = Math.floor(series.length / m);
  const means = Float64Array.from({ length: stretches }, (_, i) => mean(series.subarray(i * m, (i + 1) * m)));
  const each = variance(series);
  return each === 0 ? 1 : ((m * variance(means)) / each) * (2 * pairSum(means) - 1);
}

/** r(0) + r(1) + ..., in pairs, until one is not above 0; none counts for more than the one before. */
function pairSum(series: Float64Array): number {
  const n = series.length;
  const center = series.reduce((sum, value) => sum + value, 0) / n;
  for (let i = 0; i < n; i++) series[i]! -= center;
  const product = (lag: number): number => {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += series[i]! * series[i - lag]!;
    return sum;
  };
  const total = product(0);
  if (total === 0) return 1;
  let sum = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let lag = 0; lag < n / 6; lag += 2) {
    const pair = (product(lag) + product(lag + 1)) / total;
    if (pair <= 0) break;
    least = Math.min(least, pair);
    sum += least;
  }
  return sum;
}

/**
 * Rank k, from 1 and between whole ones, of n values in order: the k-th lies above the p-quantile with probability `share`.
 * So does it unless at least k values fall below: P(X <= k - 1) with X ~ Binomial(n, p). Below 1 or above n: there is none.
 */
function rankAt(n: number, p: number, share: number): number {
  const odds = Math.log(p) - Math.log1p(-p);
  let logTerm = n * Math.log1p(-p);
  let atMost = 0;
  for (let below = 0; below <= n; below++) {
    const term = Math.exp(logTerm);
    if (atMost + term >= share) return below + (share - atMost) / term;
    atMost += term;
    logTerm += Math.log((n - below) / (below + 1)) + odds;
  }
  return n + 1;
}

/** Between the values of the neighbouring ranks, the first and the last at the ends. */
function atRank(sorted: Float64Array, rank: number): number {
  const at = Math.min(sorted.length, Math.max(1, rank)) - 1;
  const below = Math.floor(at);
  const low = sorted[below]!;
  return low + ((sorted[below + 1] ?? low) - low) * (at - below);
}
