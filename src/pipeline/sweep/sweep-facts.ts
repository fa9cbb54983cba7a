/** What `bench --batch 1,2,4` tells: plain data, part of the result. */
import type { ModelFacts, Percentiles, VerdictReason } from "../result.js";

export interface SweepFacts {
  readonly provider: string;
  /** What the models were fed. */
  readonly data: string;
  /** Of the machine, in a currency of the user's; null where it was not said. */
  readonly costPerHour: number | null;
  readonly settings: readonly SweepSettingFacts[];
  /** Indices of settings: the most inferences a second, and the same among those that meet every limit; null when none does. */
  readonly fastest: number;
  readonly best: number | null;
}

export interface SweepSettingFacts extends Percentiles {
  readonly model: ModelFacts;
  readonly batch: number;
  readonly threads: number;
  readonly runs: number;
  /** Samples a second, run back to back, by the mean time of a run. */
  readonly throughputPerSecond: number;
  readonly loadMs: number;
  readonly firstRunMs: number;
  readonly peakRssBytes: number;
  /** Of a million samples, when the machine does nothing else; null without a price. */
  readonly costPerMillion: number | null;
  /** One for each limit on a percentile. */
  readonly limits: readonly VerdictReason[];
}
