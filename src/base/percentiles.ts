/** The percentiles that latencies are told by, everywhere the same. */
import type { Bounds } from "./quantile-interval.js";

/** In the words of results and limits, and the share of the runs that each stands for. */
export const percentileShares = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;

export type PercentileName = keyof typeof percentileShares;

/** An interval of each; an end is null where the values do not reach that far. */
export type PercentileBounds = Readonly<Record<PercentileName, Bounds>>;

/** Ascending. */
export const percentileNames = Object.keys(percentileShares) as readonly PercentileName[];

/** `p99.9` of p999, as people write them. */
export const percentileText = (name: PercentileName): string => (name === "p999" ? "p99.9" : name);

/** One of each, by its name. */
export const byPercentile = <T>(of: (name: PercentileName) => T): Readonly<Record<PercentileName, T>> =>
  Object.fromEntries(percentileNames.map((name) => [name, of(name)])) as Record<PercentileName, T>;
