import type { DType, Graph, Shape, Tensor, Value } from "../ir/index.js";

/** What a model takes under one name; a port of a model's signature has this form. */
export interface InputSpec {
  readonly name: string;
  /** null when the value is no tensor. */
  readonly dtype: DType | null;
  /** null when not even the rank is known. */
  readonly shape: Shape | null;
}

/** What a model takes, as its graph declares it. */
export const inputsOf = ({ inputs }: Graph): InputSpec[] => inputs.map(specOf);

/** Of these, what has no default: neither samples nor the runtime need the others. */
export const neededInputsOf = ({ inputs }: Graph): InputSpec[] =>
  inputs.filter(({ hasDefault }) => !hasDefault).map(specOf);

const specOf = ({ label, dtype, shape }: Value): InputSpec => ({ name: label, dtype, shape });

/** Labels of one sample: the array's row without the sample axis, or the JSON value as given. */
export type Labels = Tensor | { readonly json: unknown };

export interface Sample {
  /** What errors call it: `calibration.npz[3]`, `test_data_set_0`, a file name, a line number. */
  readonly id: string;
  /** By input name; arrays of a .npz keep a batch dimension of 1. */
  readonly feeds: ReadonlyMap<string, Tensor>;
  readonly labels: Labels | null;
  /** Outputs that came with the data (`output_*.pb`); `referencesOf` says which of a model's they are. */
  readonly references?: readonly NumberedTensor[];
}

/** A tensor of a `.pb` file. */
export interface NumberedTensor {
  /** "" where the file has none. */
  readonly name: string;
  /** The number in the file's name: the place among the model's inputs or outputs. */
  readonly position: number;
  readonly tensor: Tensor;
}

export interface Dataset {
  readonly path: string;
  readonly count: number;
  readonly hasLabels: boolean;
  /**
   * Reads samples one at a time, so memory does not grow with their number. All of them when no indices are given.
   * Ascending indices are cheapest. Each call is a pass of its own and opens and closes its files.
   */
  samples(indices?: readonly number[]): AsyncIterable<Sample>;
}

/** Seeded inputs instead of a file, for smoke tests; plain data. */
export interface RandomSpec {
  readonly seed: number;
  readonly count: number;
  /** What to make inputs for; the signature of the model that runs when absent. */
  readonly signature?: readonly InputSpec[];
  /** Sizes by input name, where the signature leaves them open or should be overruled. */
  readonly shapes?: Readonly<Record<string, readonly (number | null)[]>>;
  /** Integers that mean something to the model, by input name: drawn from, where inputs of integers are made. */
  readonly values?: Readonly<Record<string, readonly number[]>>;
  /** How large open dimensions get: some models have a least size. Default small. */
  readonly sizes?: OpenSizes;
}

/**
 * `single`: one of everything but the last axis and the sides of images, as states of recurrent models want.
 * `uncached`: caches are empty and all other open axes alike, as decoders want whose masks span past and present.
 */
export type OpenSizes = "small" | "large" | "single" | "uncached";

/** A dataset as a job names it: plain data, opened again in the process that runs the job. */
export interface DatasetRef {
  /** A file or folder; what messages call the data when `random` is set. */
  readonly path: string;
  /** Which samples, in which order; all when absent. */
  readonly indices?: readonly number[];
  /** A `SampleStore` of it, where that lies. */
  readonly store?: string;
  /** Made-up data: nothing is read from `path`. */
  readonly random?: RandomSpec;
}
