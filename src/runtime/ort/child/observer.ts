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
  /** So many of its tensors, in their order in the task, were taken in by somebody else. */
  readonly seen?: number;
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

/** Whether statistics are made of a sample, by its position in the whole data. */
export function observedAt({ keep }: ObservingTask): (position: number) => boolean {
  const aside = new Set(keep?.aside);
  return (position) => !aside.has(position);
}

export class Observer {
  readonly #taps: readonly TapStatistics[];
  readonly #keeper: SampleKeeper | null;
  readonly #isObserved: (position: number) => boolean;

  constructor(task: ObservingTask) {
    const { taps, keep, part } = task;
    this.#isObserved = observedAt(task);
    this.#taps = taps.map(newTap);
    this.#keeper = keep ? new SampleKeeper(keep, part) : null;
  }

  /** Nothing of the sample is needed any more when this returns. */
  add({ id, position, tensors, seen = 0 }: ObservedSample): void {
    if (this.#isObserved(position)) for (const tap of this.#taps.slice(seen)) observeTapped(tap, tensors);
    this.#keeper?.add(id, position, tensors);
  }

  finish(): TapStatistics[] {
    this.#keeper?.finish();
    return [...this.#taps];
  }
}

export const observeTapped = (tap: TapStatistics, tensors: ObservedTensors): void =>
  observeTensor(tap, fromOrtTensor(tap.name, tensors.get(tap.name)!).toF32()!);
