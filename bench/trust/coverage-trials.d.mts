import type { LatencySource } from "./latency-sources.d.mts";

interface Bounds {
  readonly low: number | null;
  readonly high: number | null;
}

export function chanceOf(trials: number): number;

export function percentileCoverage(
  intervals: (values: Float64Array, ps: readonly number[], confidence: number) => readonly Bounds[],
  source: LatencySource,
  options: {
    readonly trials: number;
    readonly runs: number;
    readonly percentiles: readonly number[];
    readonly seed?: number;
  },
): number[];

export interface SpeedupCoverage {
  readonly held: number;
  readonly met: number;
  readonly missed: number;
  readonly inconclusive: number;
  readonly runs: number;
  /** Of each model, on average. */
  readonly processes: number;
  readonly width: number;
}

export function speedupCoverage(
  compareLatency: unknown,
  source: LatencySource,
  options: {
    readonly trials: number;
    readonly seed?: number;
    readonly truth: number;
    readonly processDeviation: number;
    readonly startMs?: number;
    readonly scale?: number;
    readonly options?: object;
  },
): Promise<SpeedupCoverage>;
