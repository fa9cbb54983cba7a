/** How well models answer, by a metric: what the port is asked for, and what it answers. */
import type { DatasetRef } from "../dataset/dataset.js";
import type { MetricRef } from "../metric/metric.js";
import type { OutputDifference } from "./port.js";
import type { SessionOptions } from "./session-options.js";

export interface ScoreJob {
  /** The first is the baseline whose outputs are `reference` for the metric. */
  readonly models: readonly string[];
  readonly data: DatasetRef;
  readonly metric: MetricRef;
  readonly session: SessionOptions;
  /** The metric's reference are the outputs that came with the data, which every sample has, not the baseline's. */
  readonly withReferences?: boolean;
  /**
   * Scores of the baseline from an earlier result on the same samples. They are taken
   * over, and unless the metric wants `reference` the baseline is not run again.
   */
  readonly baselineScores?: Float64Array;
  /**
   * Loads one candidate after the other, and keeps the baseline's outputs meanwhile: for many
   * candidates and few samples. `baselineScores` are not looked at.
   */
  readonly isInTurn?: boolean;
  /** Also the energy of the baseline's answers. Only with `isInTurn`. */
  readonly withEnergies?: boolean;
  /** Outputs that are scored by themselves, and are no answers otherwise. Only with `isInTurn`. */
  readonly apart?: readonly string[];
  /** Where answers of the baseline were kept: of the samples whose outputs are all there it need not be run. */
  readonly answers?: string;
  /** Where to keep those of the baseline, as far as there is room, if the metric looks at them: `answers` of later jobs. Not with `isInTurn`. */
  readonly keepAnswers?: string;
  /** Also how far the candidates' outputs are from the baseline's, on so many samples; 0 when absent. Not with `isInTurn`. */
  readonly compared?: number;
  /** Models that weigh more than this together take turns, so that one is loaded at a time; 1 GiB when absent. */
  readonly togetherBytes?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Of a model's answers, or of some of its outputs. */
export interface Scores {
  /** One row a model, one number a sample, in the order of the dataset. */
  readonly scores: readonly Float64Array[];
  /** Sum of squares over the baseline's float outputs, one number a sample, where it was asked for. */
  readonly energies?: Float64Array;
}

export interface ScoreResult extends Scores {
  readonly metric: { readonly name: string; readonly higherIsBetter: boolean };
  /** Whether the metric looked at the baseline's outputs; if not, `baselineScores` saves running it. */
  readonly usedReference: boolean;
  /** Of the outputs that were to be scored apart. */
  readonly apart?: Scores;
  /** Of each candidate, where it was asked for. */
  readonly differences?: readonly (readonly OutputDifference[])[];
}
