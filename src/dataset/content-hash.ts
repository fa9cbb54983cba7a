/**
 * What samples contain, as hashes: for duplicates, for samples that calibration and
 * evaluation share, and to say in results which data it was. File format, file name and
 * order of inputs do not count; names, dtypes, shapes and bytes do.
 */
import { createHash, type Hash } from "node:crypto";
import { Tensor } from "../ir/index.js";
import type { Dataset, Labels } from "./dataset.js";

/** 128 bits of SHA-256 in hex: sets are held in memory, and nobody attacks them. */
export function hashFeeds(feeds: ReadonlyMap<string, Tensor>): string {
  const hash = createHash("sha256");
  for (const name of [...feeds.keys()].sort()) {
    addText(hash, name);
    addTensor(hash, feeds.get(name)!);
  }
  return hash.digest("hex").slice(0, 32);
}

/** SHA-256 over samples in order, labels included. */
export class DigestBuilder {
  private readonly hash = createHash("sha256");

  /** `feedsHash` is that of `hashFeeds` on the same sample. */
  add(feedsHash: string, labels: Labels | null): void {
    addText(this.hash, feedsHash);
    if (labels instanceof Tensor) addTensor(this.hash, labels);
    else addText(this.hash, labels ? JSON.stringify(labels.json) : "");
  }

  hex(): string {
    return this.hash.digest("hex");
  }
}

/** SHA-256 in hex over the contents of the samples, in the order given. */
export async function datasetDigest(dataset: Dataset, indices?: readonly number[]): Promise<string> {
  const digest = new DigestBuilder();
  for await (const sample of dataset.samples(indices)) digest.add(hashFeeds(sample.feeds), sample.labels);
  return digest.hex();
}

function addText(hash: Hash, text: string | Uint8Array): void {
  const bytes = Buffer.from(text);
  hash.update(`${bytes.length}:`).update(bytes);
}

function addTensor(hash: Hash, tensor: Tensor): void {
  addText(hash, `${tensor.dtype}[${tensor.dims.join(",")}]`);
  if (tensor.dtype === "string") for (const text of tensor.utf8()) addText(hash, text);
  else hash.update(tensor.bytes());
}
