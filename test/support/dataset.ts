import { expect } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import type { Dataset, InputSpec, Sample } from "../../src/dataset/dataset.js";
import type { DType, Shape, Tensor } from "../../src/ir/index.js";

/** All samples of a pass, in order. */
export const samplesOf = async (dataset: Dataset, indices?: readonly number[]): Promise<Sample[]> => {
  const samples: Sample[] = [];
  for await (const sample of dataset.samples(indices)) samples.push(sample);
  return samples;
};

/** Elements as plain numbers, whatever the dtype. */
export const numbersOf = (tensor: Tensor | undefined): number[] =>
  Array.from(tensor!.toF32() ?? tensor!.bigints()!.map(Number));

export const input = (name: string, dtype: DType | null, shape: Shape | null): InputSpec => ({ name, dtype, shape });

/** A dataset that holds samples in memory. */
export const datasetOf = (samples: readonly Sample[], hasLabels = false): Dataset => ({
  path: "memory",
  count: samples.length,
  hasLabels,
  async *samples(indices) {
    for (const index of indices ?? samples.keys()) yield samples[index]!;
  },
});

/** The error that something rejects or throws with; fails when it does neither. */
export async function faultOf(action: () => unknown): Promise<InferOptError> {
  try {
    await action();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InferOptError);
    return thrown as InferOptError;
  }
  return expect.fail("nothing was thrown");
}

/** Samples as plain values that compare by content. */
export const contentsOf = (samples: readonly (Sample | undefined)[]) =>
  samples.map((sample) => ({
    id: sample!.id,
    labels: sample!.labels,
    feeds: Object.fromEntries(
      [...sample!.feeds].map(([name, tensor]) => [
        name,
        [tensor.dtype, tensor.dims, Buffer.from(tensor.bytes()).toString("hex")],
      ]),
    ),
  }));
