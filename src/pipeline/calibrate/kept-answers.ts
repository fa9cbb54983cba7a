/** What calibration keeps besides statistics, where it is asked to: answers of the float model and moments, sample by sample. */
import type { DatasetRef } from "../../dataset/index.js";

export interface FloatAnswers {
  /** Where they are kept, by the names that `portOf` tells; of the samples of the trial and of `fitted`. */
  readonly path: string;
  /** Labels of what is kept. */
  readonly labels: readonly string[];
  /** Samples that corrections are fitted on; null where they are too few. */
  readonly fitted: DatasetRef | null;
  readonly moments: {
    readonly path: string;
    /** By the label of what a product reads, the axis of its channels. */
    readonly axes: ReadonlyMap<string, number>;
    /** And the name that it is kept by. */
    readonly names: ReadonlyMap<string, string>;
    /** A few of `fitted`. */
    readonly indices: readonly number[];
  };
  /** In the calibration data, ascending: all that have to be run. */
  readonly indices: readonly number[];
  /** Those of the trial, where ranges can do without: what has to be judged was not made of them then. */
  readonly aside: readonly number[];
}

/** Samples that ranges are made of in any case. */
export const LEAST_OBSERVED = 24;
