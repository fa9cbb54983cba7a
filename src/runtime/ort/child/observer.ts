/** Takes in what a model made of samples, one after the other: statistics of some tensors, and what is kept of others. */
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { newTap, observeTensor, type TapStatistics } from "../../../observe/index.js";
import type { KeepOfSamples } from "../../port.js";
import { SampleKeeper } from "./kept-samples.js";
import { fromOrtTensor } from "./tensors.js";

/** What of a runtime's tensor crosses to another thread. */
export interface ObservedTensor extends Pick<OrtTensor, "type" | "dims" | "data"> {
  /** Whether the memory stays with whoever made it. */
  readonly isLent: boolean;
}

export type ObservedTensors = ReadonlyMap<string, ObservedTensor>;

export interface ObservedSample {
  readonly id: string;
  /** In the whole data. */
  readonly position: number;
  readonly tensors: ObservedTensors;
  /** Tensors whose statistics somebody else took in. */
  readonly seen?: readonly string[];
}

export interface ObservingTask {
  /** Float tensors. */
  readonly taps: readonly string[];
  readonly keep?: KeepOfSamples;
  /** Of the data, that samples are of. */
  readonly part: number;
}

export const wantedBy = ({ taps, keep }: ObservingTask): readonly string[] => [
  ...new Set([...taps, ...(keep ? [...keep.answers.outputs, ...keep.moments.axes.keys()] : [])]),
];

/** The same of one sample, by its position in the whole data. */
export function wantedAt(task: ObservingTask): (position: number) => readonly string[] {
  const all = wantedBy(task);
  const { answers, aside = [], moments } = task.keep ?? {};
  if (!answers) return () => all;
  const answered = new Set(aside.filter((position) => !moments?.positions.includes(position)));
  return (position) => (answered.has(position) ? answers.outputs : all);
}

export class Observer {
  readonly #taps: readonly TapStatistics[];
  readonly #keeper: SampleKeeper | null;
  readonly #aside: ReadonlySet<number>;

  constructor({ taps, keep, part }: ObservingTask) {
    this.#aside = new Set(keep?.aside);
    this.#taps = taps.map(newTap);
    this.#keeper = keep ? new SampleKeeper(keep, part) : null;
  }

  /** Nothing of the sample is needed any more when this returns. */
  add({ id, position, tensors, seen = [] }: ObservedSample): void {
    if (!this.#aside.has(position))
      for (const tap of this.#taps) if (!seen.includes(tap.name)) observeTapped(tap, tensors);
    this.#keeper?.add(id, position, tensors);
  }

  finish(): TapStatistics[] {
    this.#keeper?.finish();
    return [...this.#taps];
  }
}

export const observeTapped = (tap: TapStatistics, tensors: ObservedTensors): void =>
  observeTensor(tap, fromOrtTensor(tap.name, tensors.get(tap.name)!).toF32()!);
