export { type Admission, type AdmitOptions, admit, type Finding } from "./admission.js";
export { type Adjustment, conform, conformTensor } from "./conform.js";
export { datasetDigest, hashFeeds } from "./content-hash.js";
export type { Dataset, DatasetRef, InputSpec, Labels, OpenSizes, RandomSpec, Sample } from "./dataset.js";
export { type OpenOptions, openDataset, openDatasetRef } from "./open.js";
export { type RandomOptions, randomDataset } from "./random.js";
export { referencesOf } from "./references.js";
export { openStore, SampleStore } from "./sample-store.js";
export { selectSamples } from "./select.js";
