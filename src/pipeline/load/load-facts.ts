/** What `bench --rate` tells: plain data, part of the result. */
import type { ArrivalKind, LoadSummary } from "../../bench/index.js";
import type { ModelFacts, Percentiles } from "../result.js";

export interface LoadFacts {
  readonly provider: string;
  readonly threads: number;
  readonly batch: number;
  /** What the models were fed. */
  readonly data: string;
  readonly arrivals: ArrivalKind | "trace";
  /** Requests a second; of a trace, as it was recorded. */
  readonly rate: number;
  /** That share the requests, each with the model loaded. */
  readonly processes: number;
  /** For how long requests arrived. */
  readonly durationMs: number;
  /** In the order given, each with the same arrivals. */
  readonly models: readonly ModelLoadFacts[];
}

export interface ModelLoadFacts extends LoadSummary {
  readonly model: ModelFacts;
  readonly peakRssBytes: number;
  /** Of `--find-max-rate`. */
  readonly maxRate?: MaxRateFacts;
}

export interface MaxRateFacts {
  /** The highest rate tried at which every limit was met; null when none was. */
  readonly perSecond: number | null;
  /** The lowest rate above it that did not pass; null when none failed. */
  readonly failedPerSecond: number | null;
  /** Whether the time ended before both lay close together; results of earlier versions are without. */
  readonly isCutShort?: boolean;
  readonly tried: readonly TriedRate[];
}

export interface TriedRate {
  readonly perSecond: number;
  readonly status: "met" | "missed" | "inconclusive";
  /** From arrival to answer, and what of it was waiting; results of earlier versions are without. */
  readonly latency?: Percentiles;
  readonly waiting?: Percentiles;
}
