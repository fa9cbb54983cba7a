/**
 * Members of a zip file by random access. yauzl finds them (zip64 included); this file reads
 * and inflates them in larger pieces than it would, and gives positions, sizes, checksums and
 * coded errors. Nothing is ever extracted to disk, so member names need no guard.
 */
import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import * as zlib from "node:zlib";
import yauzl from "yauzl";
import { InferOptError } from "../base/errors.js";
import { datasetError } from "./errors.js";

export interface ZipMember {
  readonly name: string;
  readonly byteLength: number;
  /** Not compressed, so that reading can begin anywhere. */
  readonly stored: boolean;
  readonly entry: yauzl.Entry;
}

/** With what yauzl documents and its type declarations lack. */
interface ZipFile extends yauzl.ZipFile {
  readLocalFileHeader(
    entry: yauzl.Entry,
    options: { readonly minimal: true },
    callback: (error: Error | null, header: { readonly fileDataStart: number }) => void,
  ): void;
}

const STORED = 0;
const DEFLATED = 8;
/** Bytes taken at once: every round through the thread pool costs about as much as 50 KB of reading. */
const CHUNK = 256 << 10;
/** Deflate cannot shrink by more; a larger claim is a lie that would cost memory. */
const MAX_DEFLATE_RATIO = 1032;

export class ZipArchive {
  private constructor(
    readonly path: string,
    private readonly zip: ZipFile,
    /** In the order of the archive. */
    readonly members: readonly ZipMember[],
  ) {}

  /** Reads the directory. Throws DATASET_ARCHIVE_DAMAGED. */
  static async open(path: string): Promise<ZipArchive> {
    let zip: ZipFile | null = null;
    try {
      zip = await openZip(path);
      return new ZipArchive(path, zip, await listMembers(path, zip));
    } catch (cause) {
      zip?.close();
      throw cause instanceof InferOptError ? cause : damaged(path, "cannot be read as a zip archive", cause);
    }
  }

  /** The member's bytes from `start` on; only a stored member may start elsewhere than at 0. */
  async read(member: ZipMember, start = 0): Promise<MemberStream> {
    const { entry, stored } = member;
    const begin = await this.positionOf(member);
    const range = { start: begin + start, end: begin + entry.compressedSize - 1 };
    const isEmpty = start >= entry.compressedSize;
    const raw = isEmpty ? Readable.from([]) : createReadStream(this.path, { ...range, highWaterMark: CHUNK });
    return new MemberStream(this.path, member, stored ? raw : inflated(raw), start);
  }

  /** Where the member's data begin in the file. */
  private positionOf(member: ZipMember): Promise<number> {
    return new Promise((resolve, reject) => {
      this.zip.readLocalFileHeader(member.entry, { minimal: true }, (error, found) =>
        error
          ? reject(damaged(this.path, `holds ${member.name}, which cannot be opened`, error))
          : resolve(found.fileDataStart),
      );
    });
  }

  close(): void {
    this.zip.close();
  }
}

function inflated(raw: Readable): Readable {
  const inflate = zlib.createInflateRaw({ chunkSize: CHUNK });
  // Whatever stops the one destroys the other, with the error that its reader is told.
  pipeline(raw, inflate, () => {});
  return inflate;
}

const openZip = (path: string): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    // Names are decoded here: yauzl would refuse ones that look like absolute paths, and inputs may be called so.
    yauzl.open(path, { lazyEntries: true, autoClose: false, decodeStrings: false }, (error, zip) =>
      error ? reject(error) : resolve(zip as ZipFile),
    );
  });

function listMembers(path: string, zip: ZipFile): Promise<ZipMember[]> {
  const members: ZipMember[] = [];
  return new Promise((resolve, reject) => {
    zip.on("error", reject);
    zip.on("end", () => resolve(members));
    zip.on("entry", (entry: yauzl.Entry) => {
      const name = Buffer.from(entry.fileName as unknown as Uint8Array).toString("utf8");
      if (!name.endsWith("/")) {
        const fault = faultOf(entry);
        if (fault) return reject(damaged(path, `holds ${name}, which ${fault}`));
        members.push({
          name,
          byteLength: entry.uncompressedSize,
          stored: entry.compressionMethod === STORED,
          entry,
        });
      }
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function faultOf(entry: yauzl.Entry): string | null {
  const { compressionMethod: method, compressedSize, uncompressedSize } = entry;
  if (entry.isEncrypted()) return "is encrypted";
  if (method !== STORED && method !== DEFLATED) return `is compressed by method ${method}`;
  if (method === DEFLATED && uncompressedSize > compressedSize * MAX_DEFLATE_RATIO) {
    return `claims ${uncompressedSize} bytes in ${compressedSize}`;
  }
  return null;
}

/** A member read in order. Read from start to end, its checksum is compared too. */
export class MemberStream {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private chunk: Uint8Array = new Uint8Array(0);
  private crc = 0;
  private pulled: number;

  constructor(
    private readonly path: string,
    private readonly member: ZipMember,
    private readonly stream: Readable,
    /** Bytes before the next one read. */
    public position: number,
  ) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    this.pulled = position;
    this.checked = position === 0;
  }

  private readonly checked: boolean;

  /** The next bytes, in memory of their own. Throws DATASET_ARCHIVE_DAMAGED when the member ends before. */
  async read(byteLength: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(byteLength);
    await this.advance(byteLength, (piece, at) => bytes.set(piece, at));
    return bytes;
  }

  async skip(byteLength: number): Promise<void> {
    await this.advance(byteLength, () => {});
  }

  close(): void {
    this.stream.destroy();
  }

  private async advance(byteLength: number, take: (piece: Uint8Array, at: number) => void): Promise<void> {
    for (let done = 0; done < byteLength; ) {
      if (this.chunk.length === 0) this.chunk = await this.pull();
      const piece = this.chunk.subarray(0, byteLength - done);
      this.chunk = this.chunk.subarray(piece.length);
      take(piece, done);
      done += piece.length;
    }
    this.position += byteLength;
  }

  private async pull(): Promise<Uint8Array> {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await this.chunks.next();
    } catch (cause) {
      throw damaged(this.path, `holds ${this.member.name}, which breaks off after ${this.pulled} bytes`, cause);
    }
    if (next.done) throw damaged(this.path, `holds ${this.member.name}, which ends after ${this.pulled} bytes`);
    this.pulled += next.value.length;
    if (this.pulled > this.member.byteLength) {
      throw damaged(this.path, `holds ${this.member.name}, which is longer than its ${this.member.byteLength} bytes`);
    }
    if (this.checked) {
      this.crc = crc32(next.value, this.crc);
      if (this.pulled === this.member.byteLength && this.crc !== this.member.entry.crc32 >>> 0) {
        throw damaged(this.path, `holds ${this.member.name}, whose checksum does not agree`);
      }
    }
    return next.value;
  }
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc;
});

/** CRC-32 as zip uses it, of `bytes` following data whose CRC is `before`. The engine's own came with Node 20.15. */
export const crc32: (bytes: Uint8Array, before?: number) => number = zlib.crc32 ?? crcByTable;

function crcByTable(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ crcTable[(crc ^ bytes[i]!) & 0xff]!;
  return ~crc >>> 0;
}

const damaged = (path: string, what: string, cause?: unknown): InferOptError =>
  datasetError(
    "DATASET_ARCHIVE_DAMAGED",
    `${path} ${what}`,
    "Copy the file again, or write it again with numpy.savez.",
    cause === undefined ? { fields: { path } } : { fields: { path }, cause },
  );
