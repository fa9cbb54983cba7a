export { type Admission, admit } from "./admission.js";
export { conform } from "./conform.js";
export { datasetDigest } from "./content-hash.js";
export type { Dataset, DatasetRef, InputSpec, OpenSizes, Sample } from "./dataset.js";
export { inputsOf, neededInputsOf } from "./dataset.js";
export { openDataset, openDatasetRef } from "./open.js";
export { referencesOf } from "./references.js";
export { openStore, partOfStore, SampleStore, storedById, storedSizes } from "./sample-store.js";
