/** The samples of a job, in the part that falls to this process. */
import { InferOptError } from "../../../base/errors.js";
import { conform, type DatasetRef, openDatasetRef, type Sample } from "../../../dataset/index.js";
import type { PortInfo, Tensors } from "../../port.js";
import type { Part } from "../protocol.js";

export interface PartOfDataset {
  /** Position of the first sample within the dataset, and how many there are. */
  readonly from: number;
  readonly count: number;
  samples(): AsyncIterable<Sample>;
}

const WHOLE: Part = { index: 0, of: 1 };

/**
 * Contiguous parts, so that results in the order of parts are in the order of the dataset.
 * `inputs` are those of the model that the data was made for: some kinds of data need their types.
 */
export async function openPart(
  data: DatasetRef,
  inputs: readonly PortInfo[],
  part: Part = WHOLE,
): Promise<PartOfDataset> {
  const dataset = await openDatasetRef(data, inputs);
  const from = Math.floor((dataset.count * part.index) / part.of);
  const to = Math.floor((dataset.count * (part.index + 1)) / part.of);
  const indices = Array.from({ length: to - from }, (_, i) => from + i);
  return { from, count: to - from, samples: () => dataset.samples(indices) };
}

/** The tensors of a sample as a model takes them. Throws as `conform` does. */
export const feedsOf = (sample: Sample, inputs: readonly PortInfo[]): Tensors => conform(sample, inputs).feeds;

export const emptyDataset = (path: string, model: string): InferOptError =>
  new InferOptError("DATASET_EMPTY", "input", `${path} holds no sample to run ${model} with`, {
    hint: "Name a dataset with at least one sample.",
    fields: { path },
  });
