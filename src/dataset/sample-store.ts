/**
 * Samples as they came out of their files, kept for jobs that read them again: pixels decoded,
 * archives inflated. One file of bytes by position, and beside it a list of what lies where.
 * The first samples of a dataset, as many as there is room for; the others are read as ever.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { type DType, Tensor } from "../ir/index.js";
import type { Dataset, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { sampleOrder } from "./select.js";

/** What a store may take on disk. */
const MOST_BYTES = 256 << 20;

interface StoredTensor {
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly offset: number;
  readonly bytes: number;
}

interface StoredSample {
  readonly id: string;
  readonly feeds: readonly (readonly [name: string, tensor: StoredTensor])[];
  readonly labels: StoredTensor | { readonly json: unknown } | null;
}

interface Contents {
  readonly count: number;
  readonly hasLabels: boolean;
  readonly samples: readonly StoredSample[];
}

const listOf = (path: string): string => `${path}.json`;

/** What the system refuses, such as room on the disk, is no loss: a store saves time, and that is all. */
function refuseOurs(thrown: unknown): void {
  if (!(thrown instanceof Error && "code" in thrown)) throw thrown;
}

/** Takes the samples of one pass over a dataset, in order. */
export class SampleStore {
  readonly #samples: StoredSample[] = [];
  #fd: number | null = null;
  #position = 0;
  #isFull = false;

  constructor(
    readonly path: string,
    readonly mostBytes = MOST_BYTES,
  ) {}

  /** Samples that are stored. */
  get size(): number {
    return this.#samples.length;
  }

  add(sample: Sample): void {
    if (this.#isFull) return;
    const { id, feeds, labels } = sample;
    const tensors = [...feeds.values(), ...(labels instanceof Tensor ? [labels] : [])];
    const bytes = tensors.reduce((sum, tensor) => sum + tensor.byteLength, 0);
    // Texts are of no fixed size, and outputs that come with samples lie in plain files as it is.
    const isPlain = tensors.every(({ dtype }) => dtype !== "string") && !sample.references?.length;
    if (!isPlain || this.#position + bytes > this.mostBytes) {
      this.#isFull = true;
      return;
    }
    try {
      this.#fd ??= openSync(this.path, "w");
      this.#samples.push({
        id,
        feeds: [...feeds].map(([name, tensor]) => [name, this.#write(tensor)] as const),
        labels: labels instanceof Tensor ? this.#write(labels) : labels,
      });
    } catch (thrown) {
      refuseOurs(thrown);
      this.#isFull = true;
    }
  }

  /** Whether there is anything to read; a dataset of which nothing could be stored leaves no file. */
  finish({ count, hasLabels }: Pick<Dataset, "count" | "hasLabels">): boolean {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    if (this.#samples.length === 0) return this.#drop();
    const contents: Contents = { count, hasLabels, samples: this.#samples };
    try {
      writeFileSync(listOf(this.path), JSON.stringify(contents));
    } catch (thrown) {
      refuseOurs(thrown);
      return this.#drop();
    }
    return true;
  }

  #drop(): false {
    for (const file of [this.path, listOf(this.path)]) if (existsSync(file)) rmSync(file, { force: true });
    return false;
  }

  #write(tensor: Tensor): StoredTensor {
    const bytes = tensor.bytes();
    const offset = this.#position;
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#fd!, bytes, done, bytes.length - done, offset + done);
    }
    this.#position += bytes.length;
    return { dtype: tensor.dtype, dims: tensor.dims, offset, bytes: bytes.length };
  }
}

/** The dataset again; `rest` opens what it was made of, for samples that are not stored. */
export function openStore(path: string, datasetPath: string, rest: () => Promise<Dataset>): Dataset {
  const { count, hasLabels, samples } = JSON.parse(readFileSync(listOf(path), "utf8")) as Contents;
  const dataset: Dataset = {
    path: datasetPath,
    count,
    hasLabels,
    samples: (indices) => readSamples(path, samples, [...sampleOrder(dataset, indices)], rest),
  };
  return dataset;
}

/** Bytes of a sample's inputs, by its index in the dataset; 0 for one that is not stored. */
export function storedSizes(path: string): (index: number) => number {
  const { samples } = JSON.parse(readFileSync(listOf(path), "utf8")) as Contents;
  const sizes = samples.map(({ feeds }) => feeds.reduce((sum, [, { bytes }]) => sum + bytes, 0));
  return (index) => sizes[index] ?? 0;
}

/** What a store holds of one sample: tensors are read when they are asked for, by name. */
export type StoredTensors = ReadonlyMap<string, () => Tensor>;

/** Processes that share samples have stores of their own, numbered from 0. */
export const partOfStore = (path: string, part: number): string => `${path}.${part}`;

/** Of all parts, by the ids of samples and in their order; empty where there are none. */
export function storedById(path: string): ReadonlyMap<string, StoredTensors> {
  const all = new Map<string, StoredTensors>();
  for (let part = 0; existsSync(listOf(partOfStore(path, part))); part++) {
    const file = partOfStore(path, part);
    const { samples } = JSON.parse(readFileSync(listOf(file), "utf8")) as Contents;
    for (const { id, feeds } of samples)
      all.set(id, new Map(feeds.map(([name, tensor]) => [name, () => readAlone(file, tensor)])));
  }
  return all;
}

function readAlone(path: string, tensor: StoredTensor): Tensor {
  const fd = openSync(path, "r");
  try {
    return readTensor(fd, path, tensor);
  } finally {
    closeSync(fd);
  }
}

function readTensor(fd: number, path: string, { dtype, dims, offset, bytes }: StoredTensor): Tensor {
  const data = new Uint8Array(bytes);
  for (let done = 0; done < bytes; ) {
    const read = readSync(fd, data, done, bytes - done, offset + done);
    if (read === 0) throw storeDamaged(path);
    done += read;
  }
  return Tensor.fromBytes(dtype, dims, data);
}

async function* readSamples(
  path: string,
  stored: readonly StoredSample[],
  order: readonly number[],
  rest: () => Promise<Dataset>,
): AsyncGenerator<Sample> {
  const fd = openSync(path, "r");
  const tensorAt = (tensor: StoredTensor): Tensor => readTensor(fd, path, tensor);
  try {
    for (let at = 0; at < order.length; ) {
      const sample = stored[order[at]!];
      if (sample) {
        const { id, labels } = sample;
        const feeds = new Map(sample.feeds.map(([name, tensor]) => [name, tensorAt(tensor)]));
        yield { id, feeds, labels: labels && "offset" in labels ? tensorAt(labels) : labels };
        at++;
        continue;
      }
      const from = at;
      while (at < order.length && !stored[order[at]!]) at++;
      yield* (await rest()).samples(order.slice(from, at));
    }
  } finally {
    closeSync(fd);
  }
}

const storeDamaged = (path: string) =>
  datasetError("DATASET_ARCHIVE_DAMAGED", `${path} is shorter than it was`, "Run the command again.", {
    fields: { path },
  });
