/**
 * A .npz file as a dataset: one array per model input, first axis = samples; an array
 * called `labels` becomes labels. Sample i is row i of each array with a batch dimension
 * of 1 put before (labels: without).
 *
 * Rows are read as they are asked for, whatever the size of the arrays: a stored member by
 * position, a deflated one forwards, from its start again when an index lies behind.
 * A Fortran-ordered array is the exception: its rows are interleaved, so it is held whole.
 */
import { basename } from "node:path";
import { elementCount, Tensor } from "../ir/index.js";
import type { Dataset, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import {
  fortranOffsets,
  gatherRow,
  NPY_PREFIX_BYTES,
  type NpyHeader,
  npyDataOffset,
  parseNpyHeader,
  swapBytes,
} from "./npy.js";
import { sampleOrder } from "./select.js";
import { type MemberStream, ZipArchive, type ZipMember } from "./zip-archive.js";

const LABELS = "labels";

/**
 * Reads the headers only. Throws DATASET_ARCHIVE_DAMAGED, DATASET_ARRAY_INVALID, DATASET_ARRAY_TYPE,
 * DATASET_COUNTS_DIFFER and DATASET_EMPTY; damage further in shows while samples are read.
 */
export async function openNpz(path: string): Promise<Dataset> {
  const archive = await ZipArchive.open(path);
  let arrays: RowReader[];
  try {
    arrays = await readHeaders(archive);
  } finally {
    archive.close();
  }
  const count = commonCount(path, arrays);
  const dataset: Dataset = {
    path,
    count,
    hasLabels: arrays.some(({ name }) => name === LABELS),
    samples: (indices) => readSamples(dataset, indices),
  };
  return dataset;
}

async function* readSamples(dataset: Dataset, indices?: readonly number[]): AsyncGenerator<Sample> {
  const order = sampleOrder(dataset, indices);
  const archive = await ZipArchive.open(dataset.path);
  let arrays: RowReader[] = [];
  try {
    arrays = await readHeaders(archive);
    for (const index of order) {
      const feeds = new Map<string, Tensor>();
      let labels: Tensor | null = null;
      for (const array of arrays) {
        const row = await array.row(index);
        if (array.name === LABELS) labels = row;
        else feeds.set(array.name, row.withDims([1, ...row.dims]));
      }
      yield { id: `${basename(dataset.path)}[${index}]`, feeds, labels };
    }
  } finally {
    for (const array of arrays) array.close();
    archive.close();
  }
}

async function readHeaders(archive: ZipArchive): Promise<RowReader[]> {
  const readers: RowReader[] = [];
  for (const member of archive.members) {
    const name = member.name.replace(/\.npy$/, "");
    const label = `array "${name}" of ${archive.path}`;
    if (name === member.name) {
      throw invalid(label, "is no .npy array", "Keep only arrays in the .npz, as numpy.savez writes them.");
    }
    if (readers.some((reader) => reader.name === name)) {
      throw invalid(label, "occurs twice", "Write the file again with numpy.savez.");
    }
    readers.push(new RowReader(archive, member, name, await readHeader(archive, member, label)));
  }
  return readers;
}

async function readHeader(archive: ZipArchive, member: ZipMember, label: string): Promise<NpyHeader> {
  const stream = await archive.read(member);
  try {
    const prefix = await stream.read(Math.min(NPY_PREFIX_BYTES, member.byteLength));
    const dataOffset = npyDataOffset(prefix, label);
    const rest = await stream.read(Math.max(0, dataOffset - prefix.length));
    const header = parseNpyHeader(Buffer.concat([prefix, rest]).subarray(0, dataOffset), label);
    const expected = dataOffset + elementCount(header.dims) * header.itemBytes;
    if (member.byteLength !== expected) {
      const shape = `[${header.dims.join(",")}]`;
      throw invalid(
        label,
        `takes ${member.byteLength} bytes where shape ${shape} asks for ${expected}`,
        "Write it again.",
      );
    }
    if (header.dims.length === 0) {
      throw invalid(label, "has no axis of samples", "Give every array a first axis with one row a sample.");
    }
    return header;
  } finally {
    stream.close();
  }
}

/** The size of the first axis, which all arrays share. */
function commonCount(path: string, arrays: readonly RowReader[]): number {
  const inputs = arrays.filter(({ name }) => name !== LABELS);
  if (inputs.length === 0 || arrays.some(({ count }) => count === 0)) {
    const hasLabels = inputs.length === 0 && arrays.length > 0;
    throw datasetError(
      "DATASET_EMPTY",
      hasLabels ? `${path} holds labels and nothing for a model to take` : `${path} holds no samples`,
      hasLabels
        ? "An array called labels goes to the metric, and to no input: save one array per model input beside it."
        : "Save one array per model input, first axis = samples.",
      { fields: { path } },
    );
  }
  const count = inputs[0]!.count;
  if (arrays.every((array) => array.count === count)) return count;
  const counts = Object.fromEntries(arrays.map((array) => [array.name, array.count]));
  const listed = arrays.map((array) => `"${array.name}" has ${array.count}`).join(", ");
  throw datasetError(
    "DATASET_COUNTS_DIFFER",
    `the arrays of ${path} hold different numbers of samples: ${listed}`,
    "The first axis of every array counts samples: make them equal.",
    { fields: { path, counts } },
  );
}

/** The rows of one array, each without the first axis. */
class RowReader {
  readonly count: number;
  private readonly rowBytes: number;
  private stream: MemberStream | null = null;
  private fortran: { whole: Uint8Array; offsets: Float64Array } | null = null;

  constructor(
    private readonly archive: ZipArchive,
    private readonly member: ZipMember,
    readonly name: string,
    private readonly header: NpyHeader,
  ) {
    this.count = header.dims[0]!;
    this.rowBytes = elementCount(header.dims.slice(1)) * header.itemBytes;
  }

  async row(index: number): Promise<Tensor> {
    const { dtype, dims, itemBytes, bigEndian, fortranOrder } = this.header;
    const bytes = fortranOrder ? await this.fortranRow(index) : await this.plainRow(index);
    if (bigEndian) swapBytes(bytes, itemBytes);
    return Tensor.fromBytes(dtype, dims.slice(1), bytes);
  }

  close(): void {
    this.stream?.close();
    this.stream = null;
  }

  private async plainRow(index: number): Promise<Uint8Array> {
    if (this.rowBytes === 0) return new Uint8Array(0);
    const stream = await this.streamAt(this.header.dataOffset + index * this.rowBytes);
    return stream.read(this.rowBytes);
  }

  private async fortranRow(index: number): Promise<Uint8Array> {
    const { dims, dataOffset, itemBytes } = this.header;
    if (!this.fortran) {
      const stream = await this.streamAt(dataOffset);
      this.fortran = { whole: await stream.read(this.count * this.rowBytes), offsets: fortranOffsets(dims) };
      this.close();
    }
    return gatherRow(this.fortran.whole, this.fortran.offsets, itemBytes, index);
  }

  private async streamAt(position: number): Promise<MemberStream> {
    const { member, archive } = this;
    const ahead = this.stream ? position - this.stream.position : Number.NaN;
    if (this.stream && ahead === 0) return this.stream;
    if (this.stream && ahead > 0 && !member.stored) {
      await this.stream.skip(ahead);
      return this.stream;
    }
    this.close();
    // The first pass over a stored member begins at its start, so that its checksum is seen.
    const first = position === this.header.dataOffset;
    this.stream = await archive.read(member, member.stored && !first ? position : 0);
    if (!member.stored || first) await this.stream.skip(position);
    return this.stream;
  }
}

const invalid = (label: string, what: string, hint: string) =>
  datasetError("DATASET_ARRAY_INVALID", `${label} ${what}`, hint, { fields: { array: label } });
