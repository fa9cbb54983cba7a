import type { Tensor } from "../ir/index.js";

/** Labels of one sample: the array's row without the sample axis, or the JSON value as given. */
export type Labels = Tensor | { readonly json: unknown };

export interface Sample {
  /** What errors call it: `calibration.npz[3]`, `test_data_set_0`, a file name, a line number. */
  readonly id: string;
  /** By input name; arrays of a .npz keep a batch dimension of 1. */
  readonly feeds: ReadonlyMap<string, Tensor>;
  readonly labels: Labels | null;
}

export interface Dataset {
  readonly path: string;
  readonly count: number;
  readonly hasLabels: boolean;
  /** Reads samples one at a time, so memory does not grow with their number. All of them when no indices are given. */
  samples(indices?: readonly number[]): AsyncIterable<Sample>;
}

/** A dataset as a job names it: plain data, opened again in the process that runs the job. */
export interface DatasetRef {
  readonly path: string;
  /** Which samples, in which order; all when absent. */
  readonly indices?: readonly number[];
}
