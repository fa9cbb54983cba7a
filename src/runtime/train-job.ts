/** Steps of training, which carry a state through a model: what the port is asked for, and what it answers. */
import type { DatasetRef, InputSpec } from "../dataset/dataset.js";
import type { SessionOptions, Tensors } from "./port.js";

export interface TrainJob {
  /** Sees a batch and its state, and gives the state that comes next. */
  readonly step: string;
  /** Gives `loss`, a single number, of a batch and the state that is `kept`. */
  readonly check: string;
  /** What the samples were made for: their batch dimension is 1, and those of a batch are joined along it. */
  readonly inputs: readonly InputSpec[];
  readonly data: DatasetRef;
  /** Samples that no step sees: they say which state is the best, and when to stop. */
  readonly heldOut: DatasetRef;
  /** Positions in `data`, as many for every step. */
  readonly batches: readonly (readonly number[])[];
  /** What else each step is told, by input of `step`. */
  readonly told: readonly Tensors[];
  /** What the first step starts from, by input of `step`. */
  readonly state: Tensors;
  /** By input of `step`: the output that holds what it becomes for the next one. The rest of the state stays as it is. */
  readonly carried: Readonly<Record<string, string>>;
  /** Of the state, what `check` takes and what comes back. */
  readonly kept: readonly string[];
  readonly loss: string;
  /** Steps between two checks, and how many in a row without a better loss end it. */
  readonly every: number;
  readonly patience: number;
  /** No step begins when so much time has passed; there is no such end when absent. */
  readonly mostMs?: number;
  readonly session: SessionOptions;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface TrainResult {
  /** The state that did best on held-out samples, and the step after which it was there; 0 is what it started from. */
  readonly best: Tensors;
  readonly step: number;
  /** Mean loss on held-out samples at every check, the first before any step. */
  readonly history: readonly { readonly step: number; readonly loss: number }[];
}
