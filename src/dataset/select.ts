import type { Dataset } from "./dataset.js";
import { datasetError } from "./errors.js";

/** The sample numbers to visit: those asked for, in that order, or all. Throws DATASET_INDEX. */
export function sampleOrder(dataset: Pick<Dataset, "path" | "count">, indices?: readonly number[]): Iterable<number> {
  if (!indices) return Array(dataset.count).keys();
  const wrong = indices.find((index) => !Number.isInteger(index) || index < 0 || index >= dataset.count);
  if (wrong === undefined) return indices;
  throw datasetError(
    "DATASET_INDEX",
    `${dataset.path} has no sample ${wrong}: it holds ${dataset.count}`,
    "The data changed since the samples were chosen: run the command again.",
    { fields: { index: wrong, count: dataset.count } },
  );
}

/** Some samples of a dataset, as a dataset; index 0 is the first of `indices`. Throws DATASET_INDEX. */
export function selectSamples(dataset: Dataset, indices: readonly number[]): Dataset {
  sampleOrder(dataset, indices);
  const chosen: Dataset = {
    path: dataset.path,
    count: indices.length,
    hasLabels: dataset.hasLabels,
    samples: (inner) => dataset.samples(inner ? Array.from(sampleOrder(chosen, inner), (i) => indices[i]!) : indices),
  };
  return chosen;
}
