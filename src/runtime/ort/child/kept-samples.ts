/** Writes down what a model makes of single samples, and reads it again for another job. */
import { partOfStore, SampleStore, storedById } from "../../../dataset/index.js";
import { Tensor } from "../../../ir/index.js";
import { channelMoments, meanOf, meanPairOf, meanSquareOf } from "../../../observe/index.js";
import type { KeepOfSamples, Tensors } from "../../port.js";
import type { ObservedTensors } from "./observer.js";
import { fromOrtTensor } from "./tensors.js";

export class SampleKeeper {
  readonly #answers: SampleStore;
  readonly #moments: SampleStore;

  constructor(
    readonly keep: KeepOfSamples,
    part: number,
  ) {
    this.#answers = new SampleStore(partOfStore(keep.answers.path, part));
    this.#moments = new SampleStore(partOfStore(keep.moments.path, part));
  }

  /** `position` is that of the sample in the whole data. */
  add(id: string, position: number, results: ObservedTensors): void {
    const tensorOf = (name: string): Tensor => fromOrtTensor(name, results.get(name)!);
    const { answers, moments } = this.keep;
    this.#answers.add({ id, feeds: new Map(answers.outputs.map((name) => [name, tensorOf(name)])), labels: null });
    if (!moments.positions.includes(position)) return;
    const found = new Map<string, Tensor>();
    for (const [name, axis] of moments.axes) {
      const tensor = tensorOf(name);
      const { mean, meanSquare, meanPair } = channelMoments(tensor.toF32()!, tensor.dims, axis);
      found.set(meanOf(name), Tensor.f32([mean.length], mean));
      found.set(meanSquareOf(name), Tensor.f32([meanSquare.length], meanSquare));
      found.set(meanPairOf(name), Tensor.f32([meanPair.length], meanPair));
    }
    this.#moments.add({ id, feeds: found, labels: null });
  }

  finish(): void {
    for (const store of [this.#answers, this.#moments]) store.finish({ count: store.size, hasLabels: false });
  }
}

/** The same of outputs alone, for a model that is run by someone else. */
export class AnswerKeeper {
  readonly #store: SampleStore;

  constructor(path: string, part: number) {
    this.#store = new SampleStore(partOfStore(path, part));
  }

  add(id: string, outputs: Tensors): void {
    this.#store.add({ id, feeds: outputs, labels: null });
  }

  finish(): void {
    this.#store.finish({ count: this.#store.size, hasLabels: false });
  }
}

export interface KeptAnswers {
  /** Those outputs of a sample; null unless all of them are there. */
  of(id: string, outputs: Iterable<string>): Tensors | null;
}

export function keptAnswers(path: string): KeptAnswers {
  const known = storedById(path);
  return {
    of: (id, outputs) => {
      const tensors = known.get(id);
      const wanted = [...outputs];
      return tensors && wanted.every((name) => tensors.has(name))
        ? new Map(wanted.map((name) => [name, tensors.get(name)!()]))
        : null;
    },
  };
}
