/** From a path to a dataset: the file's name or the folder's contents say which reader it takes. */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname } from "node:path";
import { nearbyFile } from "../base/nearby-file.js";
import type { Dataset, DatasetRef, InputSpec } from "./dataset.js";
import { datasetError } from "./errors.js";
import { openJsonl } from "./jsonl.js";
import { MANIFEST, openManifest } from "./manifest.js";
import { openNpz } from "./npz.js";
import { randomDataset } from "./random.js";
import { openStore } from "./sample-store.js";
import { selectSamples } from "./select.js";
import { isTestDataFolder, openTestData } from "./test-data.js";

export interface OpenOptions {
  /** The model's inputs: .jsonl needs their types, test data their order. */
  readonly signature?: readonly InputSpec[];
}

/** Throws DATASET_MISSING, DATASET_KIND, DATASET_EMPTY, or what the reader of that kind throws. */
export async function openDataset(path: string, { signature }: OpenOptions = {}): Promise<Dataset> {
  const isFolder = await checkFolder(path);
  if (isFolder) {
    const names = await readdir(path);
    if (names.includes(MANIFEST)) return openManifest(path);
    if (isTestDataFolder(names)) return openTestData(path, signature);
    const images = names.filter((name) => isImage(name)).length;
    const holds =
      images > 0
        ? `holds images (${images}) but no ${MANIFEST}`
        : `holds neither ${MANIFEST} nor test_data_set_* folders`;
    throw datasetError("DATASET_KIND", `folder ${path} ${holds}`, images > 0 ? LIST_IMAGES : KINDS, {
      fields: { path },
    });
  }
  switch (extname(path).toLowerCase()) {
    case ".npz":
      return openNpz(path);
    case ".jsonl":
      return openJsonl(path, signature);
    case ".npy":
      throw datasetError("DATASET_KIND", `${path} is an array without the name of its input`, NAME_IT, {
        fields: { path },
      });
    default:
      if (basename(path) === MANIFEST) return openManifest(dirname(path));
      throw isImage(path)
        ? datasetError("DATASET_KIND", `${path} is a single image`, LIST_IMAGES, { fields: { path } })
        : datasetError("DATASET_KIND", `${path} is no kind of dataset that is known`, KINDS, { fields: { path } });
  }
}

const KINDS = "Give a .npz or .jsonl file, a folder with manifest.json, or one with test_data_set_*/input_*.pb.";
const NAME_IT = 'Save it under the name of the input, one row a sample: np.savez("samples.npz", input=array).';
/** As little as will do. */
const LIST_IMAGES = `List the images in ${MANIFEST} of their folder: {"version": 1, "samples": [{"inputs": {"NAME-OF-INPUT": "a.png"}}]}; docs/data.md tells how to resize and normalize them.`;

const isImage = (path: string): boolean => /\.(png|jpe?g|webp)$/i.test(path);

/** A dataset from the plain data of a job; `signature` is that of the model that runs. */
export async function openDatasetRef(ref: DatasetRef, signature?: readonly InputSpec[]): Promise<Dataset> {
  const open = () => openDataset(ref.path, signature && { signature });
  const dataset = ref.random
    ? openRandom(ref, ref.random, signature)
    : ref.store
      ? openStore(ref.store, ref.path, open)
      : await open();
  return ref.indices ? selectSamples(dataset, ref.indices) : dataset;
}

function openRandom(
  ref: DatasetRef,
  spec: NonNullable<DatasetRef["random"]>,
  modelInputs?: readonly InputSpec[],
): Dataset {
  const { seed, count, shapes, values, sizes } = spec;
  const signature = spec.signature ?? modelInputs;
  if (signature) {
    return randomDataset(signature, {
      seed,
      count,
      shapes: new Map(Object.entries(shapes ?? {})),
      values: new Map(Object.entries(values ?? {})),
      ...(sizes && { sizes }),
    });
  }
  throw datasetError(
    "DATASET_SIGNATURE_NEEDED",
    `random data "${ref.path}" does not say for which inputs`,
    "Open it together with the model that it is for.",
  );
}

async function checkFolder(path: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory() || stats.isFile()) return stats.isDirectory();
  } catch (cause) {
    const likely = nearbyFile(path);
    throw datasetError(
      "DATASET_MISSING",
      `there is no dataset ${path}`,
      likely === null ? "Check the path; relative ones start at the current folder." : `Did you mean ${likely}?`,
      {
        fields: { path },
        cause,
      },
    );
  }
  // Opening a pipe would wait for a writer, perhaps for ever; and data is read more than once.
  throw datasetError("DATASET_KIND", `${path} is neither a file nor a folder`, "Save the samples to a file first.", {
    fields: { path },
  });
}
