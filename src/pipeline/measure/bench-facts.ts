/** What `bench` finds: every model by itself, timed in turns with the others. */
import type { PercentileBounds } from "../../base/percentiles.js";
import type { ModelFacts, Percentiles, PlacementFacts } from "../result.js";

export interface BenchFacts {
  readonly provider: string;
  readonly threads: number;
  readonly batch: number;
  /** Timed runs of each model, and processes that it ran in. */
  readonly runs: number;
  readonly processes: number;
  /** What the models were fed. */
  readonly data: string;
  /** In the order given; the first is what the others are compared with. */
  readonly models: readonly BenchRow[];
  /** The first model against a copy of itself: 1 but for noise; null where it was not asked for. */
  readonly noise: { readonly ratio: number; readonly interval: readonly [number, number] } | null;
}

export interface BenchRow extends Percentiles {
  readonly model: ModelFacts;
  /** The 95 % interval of each percentile; an end is null where the runs do not reach that far. */
  readonly bounds: PercentileBounds;
  /** Samples a second when run back to back, by the mean time of a run. */
  readonly throughputPerSecond: number;
  readonly loadMs: number;
  readonly firstRunMs: number;
  readonly peakRssBytes: number;
  /** Until the first answer of a fresh process, part by part; results of earlier versions are without. */
  readonly coldStart?: ColdStartFacts;
  readonly memory?: MemoryFacts;
  /** Against the first model; null for itself. */
  readonly speedup: number | null;
  readonly speedupInterval: readonly [number, number] | null;
  /** On providers other than cpu. */
  readonly placement?: PlacementFacts;
}

/** Milliseconds, the middle one of all processes. The model's file is in the system's cache by then. */
export interface ColdStartFacts {
  /** From the start of the process to its first own line. */
  readonly processMs: number;
  /** To load the runtime's library. */
  readonly runtimeMs: number;
  /** To make a session of the model. */
  readonly sessionMs: number;
  readonly firstRunMs: number;
  /** All of these. */
  readonly totalMs: number;
  /** A run when warm: the median. */
  readonly steadyMs: number;
}

/** Resident bytes of a process, at its start the middle one of all processes. */
export interface MemoryFacts {
  /** With the runtime loaded and no model. */
  readonly runtimeBytes: number;
  /** With the session, before its first run. */
  readonly sessionBytes: number;
  /** The most that any process ever had. */
  readonly peakBytes: number;
}
