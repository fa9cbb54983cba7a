/**
 * What keeps a node from being faster: arithmetic or memory (Williams, Waterman and Patterson, "Roofline: an
 * insightful visual performance model", 2009). At the machine's measured peaks its arithmetic would take
 * FLOPs / peak, and moving its bytes bytes / bandwidth: the longer of the two is what it cannot be faster than,
 * unless its data lie in a cache.
 */
import type { Work } from "./operator-work.js";

export interface MachinePeaks {
  /** Multiply-accumulates count two. In float, and of 8-bit integers, per second. */
  readonly flopsPerSecond: number;
  readonly intOpsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** The higher of each. */
export const higherPeaks = (one: MachinePeaks, other: MachinePeaks): MachinePeaks => ({
  flopsPerSecond: Math.max(one.flopsPerSecond, other.flopsPerSecond),
  intOpsPerSecond: Math.max(one.intOpsPerSecond, other.intOpsPerSecond),
  bytesPerSecond: Math.max(one.bytesPerSecond, other.bytesPerSecond),
});

/** `neither`: it takes far longer than both would, so what it costs is to be called at all, or its kernel. */
export type Bound = "compute" | "memory" | "neither" | "unknown";

export interface Roofline {
  readonly bound: Bound;
  /** The least time over the time taken; above 1 where data lie in a cache. null where its work is unknown. */
  readonly share: number | null;
}

/** Of the time at the peak that a node has to reach for one of them to be called its bound. */
const LEAST_SHARE = 0.1;

export function rooflineOf({ flops, bytes }: Work, isInteger: boolean, ms: number, peaks: MachinePeaks): Roofline {
  if (flops === null || bytes === null || ms <= 0) return { bound: "unknown", share: null };
  const peak = isInteger ? peaks.intOpsPerSecond : peaks.flopsPerSecond;
  const [computing, moving] = [(1000 * flops) / peak, (1000 * bytes) / peaks.bytesPerSecond];
  const share = Math.max(computing, moving) / ms;
  if (share < LEAST_SHARE) return { bound: "neither", share };
  return { bound: computing >= moving ? "compute" : "memory", share };
}

/** Of the peak of arithmetic, which no cache helps to pass: beyond it the peak was measured while the machine was busy. */
const BEATEN = 1.25;

/** The node that beats the peak of arithmetic by the most; null where none does by more than products differ. */
export function beatsPeak<N extends { readonly bound: Bound | null; readonly peakShare: number | null }>(
  nodes: readonly N[],
): (N & { readonly peakShare: number }) | null {
  const beating = nodes.filter(
    (node): node is N & { readonly peakShare: number } => node.bound === "compute" && (node.peakShare ?? 0) > BEATEN,
  );
  return beating.reduce<(typeof beating)[number] | null>(
    (most, node) => (most === null || node.peakShare > most.peakShare ? node : most),
    null,
  );
}
