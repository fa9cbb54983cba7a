/** Writes small .npy and .npz bytes for tests; independent of the reader, after the two format specifications. */
import { deflateRawSync } from "node:zlib";
import { crc32 } from "../../src/dataset/zip-archive.js";

export interface NpyOptions {
  readonly fortran?: boolean;
  readonly version?: 1 | 2 | 3;
}

/** `descr` as numpy writes it (`<f4`); `data` holds the elements as they shall lie in the file. */
export function npy(descr: string, dims: readonly number[], data: ArrayBufferView, options: NpyOptions = {}): Buffer {
  const { fortran = false, version = 1 } = options;
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(", ")})`;
  const dict = `{'descr': '${descr}', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': ${shape}, }`;
  const fixed = version === 1 ? 10 : 12;
  const text = `${dict.padEnd(Math.ceil((fixed + dict.length + 1) / 64) * 64 - fixed - 1)}\n`;
  const head = Buffer.alloc(fixed);
  head.write("\x93NUMPY", "latin1");
  head[6] = version;
  if (version === 1) head.writeUInt16LE(text.length, 8);
  else head.writeUInt32LE(text.length, 8);
  return Buffer.concat([head, Buffer.from(text), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

export const f32Npy = (dims: readonly number[], values: readonly number[]): Buffer =>
  npy("<f4", dims, Float32Array.from(values));
export const i64Npy = (dims: readonly number[], values: readonly number[]): Buffer =>
  npy("<i8", dims, BigInt64Array.from(values, BigInt));

export interface ZipOptions {
  readonly deflate?: boolean;
  /** 64-bit sizes and offsets everywhere, as archives beyond 4 GiB have. */
  readonly zip64?: boolean;
}

/** A zip file of members by full name (`x.npy`). */
export function zip(
  members: Readonly<Record<string, Uint8Array>>,
  { deflate = false, zip64 = false }: ZipOptions = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of Object.entries(members)) {
    const body = deflate ? deflateRawSync(data) : Buffer.from(data);
    const sizes = [data.length, body.length, offset] as const;
    const extra = zip64 ? zip64Extra(sizes) : Buffer.alloc(0);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(zip64 ? 45 : 20, 0);
    fields.writeUInt16LE(0x800, 2); // names are UTF-8
    fields.writeUInt16LE(deflate ? 8 : 0, 4);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(zip64 ? 0xffff_ffff : body.length, 14);
    fields.writeUInt32LE(zip64 ? 0xffff_ffff : data.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    fields.writeUInt16LE(extra.length, 24);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(zip64 ? 0xffff_ffff : offset, 10);
    directory.push(Buffer.concat([bytes(0x02014b50, 45), fields, tail, Buffer.from(name), extra]));
    const local = Buffer.concat([bytes(0x04034b50), fields, Buffer.from(name), extra, body]);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  return Buffer.concat([...parts, central, end(directory.length, central.length, offset, zip64)]);
}

/** A .npz file: arrays by input name. */
export const npz = (arrays: Readonly<Record<string, Uint8Array>>, options?: ZipOptions): Buffer =>
  zip(Object.fromEntries(Object.entries(arrays).map(([name, data]) => [`${name}.npy`, data])), options);

function zip64Extra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [i, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return extra;
}

function end(count: number, size: number, offset: number, zip64: boolean): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(zip64 ? 0xffff : count, 8);
  record.writeUInt16LE(zip64 ? 0xffff : count, 10);
  record.writeUInt32LE(zip64 ? 0xffff_ffff : size, 12);
  record.writeUInt32LE(zip64 ? 0xffff_ffff : offset, 16);
  if (!zip64) return record;
  const wide = Buffer.alloc(56);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(44n, 4);
  wide.writeUInt16LE(45, 12);
  wide.writeUInt16LE(45, 14);
  for (const [at, value] of [
    [24, count],
    [32, count],
    [40, size],
    [48, offset],
  ] as const) {
    wide.writeBigUInt64LE(BigInt(value), at);
  }
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([wide, locator, record]);
}

/** A signature, and the version that made it where the directory wants one. */
function bytes(signature: number, madeBy?: number): Buffer {
  const out = Buffer.alloc(madeBy === undefined ? 4 : 6);
  out.writeUInt32LE(signature, 0);
  if (madeBy !== undefined) out.writeUInt16LE(madeBy, 4);
  return out;
}
