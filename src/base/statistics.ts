/**
 * Means, quantiles with their intervals, and the distributions that these need. Arrays called `sorted` are
 * ascending and free of NaN; probabilities and confidences lie in (0, 1).
 */
import { invariant } from "./errors.js";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const ascending = (values: ArrayLike<number>): Float64Array => Float64Array.from(values).sort();

export function mean(values: ArrayLike<number>): number {
  invariant(values.length > 0, "the mean of nothing");
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/** Sample variance (n - 1); 0 for a single value. */
export function variance(values: ArrayLike<number>): number {
  const center = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! - center) ** 2;
  return values.length > 1 ? sum / (values.length - 1) : 0;
}

/** Linear between order statistics (type 7 of Hyndman and Fan 1996), as numpy and R do by default; infinities are values like others. */
export function quantile(sorted: ArrayLike<number>, p: number): number {
  invariant(sorted.length > 0, "a quantile of nothing");
  const at = (sorted.length - 1) * p;
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  const part = at - below;
  // Between -Infinity and anything else there is no number but that one.
  if (part === 0 || low === high || low === Number.NEGATIVE_INFINITY) return low;
  return low + (high - low) * part;
}

/** The smallest of the values that a share `p` of them does not exceed: one of them, nothing in between. */
export function nearestRank(sorted: ArrayLike<number>, p: number): number {
  invariant(sorted.length > 0, "a percentile of nothing");
  // 0.95 * 20 is a little above 19.
  const rank = Math.ceil(sorted.length * p * (1 - 1e-12));
  return sorted[Math.max(1, rank) - 1]!;
}

export const median = (values: ArrayLike<number>): number => quantile(ascending(values), 0.5);

/**
 * How many values it takes before the largest of them is above the p-quantile with this
 * confidence: p^n <= 1 - confidence. At 95 %: 29 for p90, 59 for p95, 299 for p99, 2995 for p99.9.
 */
export const leastCountFor = (p: number, confidence = 0.95): number =>
  Math.ceil(Math.log(1 - confidence) / Math.log(p));

/** The p-quantile by nearest rank, or null when there are too few values to speak of it. */
export function percentileOrNull(sorted: ArrayLike<number>, p: number, confidence = 0.95): number | null {
  return sorted.length >= leastCountFor(p, confidence) ? nearestRank(sorted, p) : null;
}

/** The standard normal's p-quantile, to 1e-12. */
export function normalQuantile(p: number): number {
  invariant(p > 0 && p < 1, "a normal quantile of 0 or 1 is infinite");
  let low = -9;
  let high = 9;
  while (high - low > 1e-13) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * The p-quantile of Student's t for `degrees` >= 1, whole or not, to about 1e-6 of itself. With
 * x = sqrt(degrees) * tan(angle), P(0 < T < x) is proportional to the integral of cos(angle)^(degrees - 1).
 */
export function studentQuantile(p: number, degrees: number): number {
  invariant(p > 0 && p < 1 && degrees >= 1, "a t quantile needs 0 < p < 1 and a degree of freedom");
  if (degrees > 1000) return normalQuantile(p);
  if (p < 0.5) return -studentQuantile(1 - p, degrees);
  const steps = 4000;
  const step = Math.PI / 2 / steps;
  const density = (at: number) => Math.cos(at * step) ** (degrees - 1);
  const areas = new Float64Array(steps + 1);
  // Simpson's rule on each step.
  for (let i = 0; i < steps; i++) {
    areas[i + 1] = areas[i]! + density(i) + 4 * density(i + 0.5) + density(i + 1);
  }
  const wanted = (2 * p - 1) * areas[steps]!;
  let i = 0;
  while (areas[i + 1]! < wanted) i++;
  const part = (wanted - areas[i]!) / (areas[i + 1]! - areas[i]!);
  return Math.sqrt(degrees) * Math.tan((i + part) * step);
}

/** 1/2 + density(x) * (x + x^3/3 + x^5/(3*5) + ...) */
function normalCdf(x: number): number {
  let term = x;
  let sum = x;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
