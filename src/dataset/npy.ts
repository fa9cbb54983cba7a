/**
 * The .npy format (numpy's format specification, versions 1.0 to 3.0): magic
 * `\x93NUMPY`, two version bytes, the header's length, a Python dict literal with
 * `descr`, `fortran_order` and `shape`, then the elements.
 *
 * Read: f2 f4 f8, i1..i8, u1..u8, b1, in either byte order. Everything else (objects,
 * texts, records, dates, complex) is refused by name.
 */
import { readFile } from "node:fs/promises";
import { type DType, elementCount, Tensor } from "../ir/index.js";
import { datasetError } from "./errors.js";

export interface NpyHeader {
  readonly dtype: DType;
  readonly itemBytes: number;
  readonly bigEndian: boolean;
  readonly fortranOrder: boolean;
  readonly dims: readonly number[];
  /** Where the elements begin. */
  readonly dataOffset: number;
}

const dtypeOfDescr: Readonly<Record<string, DType>> = {
  f2: "f16",
  f4: "f32",
  f8: "f64",
  i1: "i8",
  i2: "i16",
  i4: "i32",
  i8: "i64",
  u1: "u8",
  u2: "u16",
  u4: "u32",
  u8: "u64",
  b1: "bool",
};

/** Bytes that say how long the header is. */
export const NPY_PREFIX_BYTES = 12;
/** numpy itself refuses longer ones by default. */
const MAX_HEADER_BYTES = 1 << 20;

/** Offset of the elements, from the first NPY_PREFIX_BYTES (fewer when the array is shorter). Throws DATASET_ARRAY_INVALID. */
export function npyDataOffset(prefix: Uint8Array, name: string): number {
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  const version = prefix[6] ?? 0;
  const fixed = version === 1 ? 10 : 12;
  const magic = Buffer.from(prefix.subarray(0, 6)).toString("latin1");
  if (prefix.length < fixed || magic !== "\x93NUMPY" || version < 1 || version > 3) {
    throw invalid(name, "is no .npy array of version 1 to 3");
  }
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER_BYTES) throw invalid(name, `has a header of ${length} bytes`);
  return fixed + length;
}

/** `bytes` reach from the array's start to its elements. Throws DATASET_ARRAY_INVALID, DATASET_ARRAY_TYPE. */
export function parseNpyHeader(bytes: Uint8Array, name: string): NpyHeader {
  const text = Buffer.from(bytes.subarray(bytes[6] === 1 ? 10 : 12)).toString("utf8");
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([\d\sL,]*)\)/.exec(text)?.[1];
  const descr = /'descr'\s*:\s*('[^']*'|\[)/.exec(text)?.[1];
  if (fortran === undefined || shape === undefined || descr === undefined) throw invalid(name, "has a damaged header");

  const [, order, type] = /^'([<>|=])(\w+)'$/.exec(descr) ?? [];
  const dtype = dtypeOfDescr[type ?? ""];
  if (!dtype) throw unsupported(name, descr);

  const sizes = shape.split(",").map((part) => part.trim().replace(/L$/, ""));
  const dims = sizes.filter((part) => part !== "").map(Number);
  const itemBytes = Number(type!.slice(1));
  if (!dims.every(Number.isSafeInteger) || !Number.isSafeInteger(elementCount(dims) * itemBytes)) {
    throw invalid(name, `has shape (${shape})`);
  }
  return {
    dtype,
    itemBytes,
    bigEndian: order === ">" && itemBytes > 1,
    fortranOrder: fortran === "True",
    dims,
    dataOffset: bytes.length,
  };
}

/** Turns big-endian elements into little-endian ones, in place. */
export function swapBytes(bytes: Uint8Array, itemBytes: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (itemBytes === 2) buffer.swap16();
  else if (itemBytes === 4) buffer.swap32();
  else if (itemBytes === 8) buffer.swap64();
}

/**
 * Where the elements of one row lie in a Fortran-ordered array [n, ...rest], counted in
 * elements from the row's own first: for C-order position p of `rest`, the column-major one times n.
 */
export function fortranOffsets(dims: readonly number[]): Float64Array {
  const rest = dims.slice(1);
  const strides = rest.map((_, axis) => elementCount(dims.slice(0, axis + 1)));
  const offsets = new Float64Array(elementCount(rest));
  const position = rest.map(() => 0);
  for (let i = 0; i < offsets.length; i++) {
    offsets[i] = position.reduce((sum, at, axis) => sum + at * strides[axis]!, 0);
    for (let axis = rest.length - 1; axis >= 0 && ++position[axis]! === rest[axis]; axis--) position[axis] = 0;
  }
  return offsets;
}

/** Row `row` of a Fortran-ordered array, in C order. */
export function gatherRow(whole: Uint8Array, offsets: Float64Array, itemBytes: number, row: number): Uint8Array {
  const bytes = new Uint8Array(offsets.length * itemBytes);
  for (let i = 0; i < offsets.length; i++) {
    const from = (offsets[i]! + row) * itemBytes;
    for (let b = 0; b < itemBytes; b++) bytes[i * itemBytes + b] = whole[from + b]!;
  }
  return bytes;
}

/** A whole .npy file as a tensor of the array's own shape. `name` is what errors call it. */
export async function readNpyFile(path: string, name: string): Promise<Tensor> {
  const file = await readFile(path);
  const dataOffset = npyDataOffset(file.subarray(0, NPY_PREFIX_BYTES), name);
  if (dataOffset > file.length) throw invalid(name, "is truncated");
  const header = parseNpyHeader(file.subarray(0, dataOffset), name);
  const { dims, itemBytes } = header;
  const expected = elementCount(dims) * itemBytes;
  if (file.length - dataOffset !== expected) {
    throw invalid(name, `holds ${file.length - dataOffset} bytes where shape [${dims.join(",")}] asks for ${expected}`);
  }
  let bytes: Uint8Array = Uint8Array.from(file.subarray(dataOffset));
  // A leading axis of 1 makes the whole array one row.
  if (header.fortranOrder) bytes = gatherRow(bytes, fortranOffsets([1, ...dims]), itemBytes, 0);
  if (header.bigEndian) swapBytes(bytes, itemBytes);
  return Tensor.fromBytes(header.dtype, dims, bytes);
}

const invalid = (name: string, what: string) =>
  datasetError("DATASET_ARRAY_INVALID", `${name} ${what}`, "Write the array again with numpy.save or numpy.savez.", {
    fields: { array: name },
  });

function unsupported(name: string, descr: string) {
  const objects = /O/.test(descr);
  return datasetError(
    "DATASET_ARRAY_TYPE",
    objects
      ? `${name} is an array of Python objects, which are never unpickled`
      : `${name} has element type ${descr === "[" ? "of a record" : descr}, which no tensor has`,
    objects
      ? "Make all rows the same shape and save them as numbers, or use .jsonl for samples of different shapes."
      : "Convert it to float16, float32, float64, an integer type or bool before saving.",
    { fields: { array: name, descr } },
  );
}
