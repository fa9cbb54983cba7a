import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { InferOptError } from "../base/errors.js";
import type { FileState } from "../base/file-state.js";
import type { ByteSource } from "./schema.js";

const CHUNK_BYTES = 256 << 10;

/** Bytes that are already in memory. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    byteLength: bytes.byteLength,
    read: () => bytes,
    *chunks() {
      yield bytes;
    },
  };
}

/**
 * Ranges up to this size may stay in memory after they were read. What was reached
 * through a weak reference lives until the current turn of the event loop ends, and a
 * pass over all weights is one turn: larger ones would pile up.
 */
const KEPT_BYTES = 1 << 20;

/**
 * A range of a file, read when asked for and forgotten as soon as nobody holds it.
 * Throws MODEL_DATA_SHORT when the file ends before the range does.
 * @param state of the file when its ranges were learnt; with another one, reading throws MODEL_CHANGED
 */
export function fileSource(path: string, offset: number, byteLength: number, state?: FileState): ByteSource {
  let recent: WeakRef<Uint8Array> | undefined;
  return {
    byteLength,
    file: { path, offset, ...(state && { state }) },
    read() {
      const held = recent?.deref();
      if (held) return held;
      const bytes = readRange(path, offset, byteLength, state);
      if (byteLength <= KEPT_BYTES) recent = new WeakRef(bytes);
      return bytes;
    },
    *chunks(chunkBytes = CHUNK_BYTES) {
      // One buffer for all of them: a model's worth of garbage would be much more memory than is needed at a time.
      const buffer = new Uint8Array(Math.min(chunkBytes, byteLength));
      const fd = openToRead(path, state);
      try {
        for (let at = 0; at < byteLength; at += chunkBytes) {
          const chunk = buffer.subarray(0, Math.min(chunkBytes, byteLength - at));
          readInto(chunk, fd, path, offset + at);
          yield chunk;
        }
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** Bytes [offset, offset + length) of a file. Throws MODEL_UNREADABLE, MODEL_DATA_SHORT or, where its state is told, MODEL_CHANGED. */
export function readRange(path: string, offset: number, length: number, state?: FileState): Uint8Array {
  // Not Buffer.allocUnsafe: its pooled slices are not aligned to the element size.
  const bytes = new Uint8Array(length);
  const fd = openToRead(path, state);
  try {
    readInto(bytes, fd, path, offset);
  } finally {
    closeSync(fd);
  }
  return bytes;
}

/** Throws MODEL_CHANGED where the file is not as it was, or MODEL_UNREADABLE. */
export const refuseChanged = (path: string, state: FileState): void => closeSync(openToRead(path, state));

function openToRead(path: string, state?: FileState): number {
  const fd = openFile(path);
  try {
    if (state && isOther(fstatSync(fd, { bigint: true }), state)) throw changed(path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const isOther = (now: FileState, then: FileState): boolean =>
  now.ino !== then.ino || now.mtimeNs !== then.mtimeNs || now.size !== then.size;

/** Weights are read when they are wanted: of another file they would be another model's. */
const changed = (path: string): InferOptError =>
  new InferOptError("MODEL_CHANGED", "input", `${path} was written to or replaced while it was in use`, {
    hint: "Leave it alone until the command has ended, and run it again.",
    fields: { path },
  });

function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    throw new InferOptError("MODEL_UNREADABLE", "input", `cannot read ${path}`, {
      hint: "Check that the file exists and may be read.",
      cause,
      fields: { path },
    });
  }
}

function readInto(bytes: Uint8Array, fd: number, path: string, offset: number): void {
  const { length } = bytes;
  for (let done = 0; done < length; ) {
    const got = readSync(fd, bytes, done, Math.min(length - done, 1 << 30), offset + done);
    if (got === 0) {
      throw new InferOptError(
        "MODEL_DATA_SHORT",
        "input",
        `${path} ends at byte ${offset + done}, but bytes ${offset} to ${offset + length} are needed`,
        { hint: "The file is truncated: copy or download it again.", fields: { path, offset, length } },
      );
    }
    done += got;
  }
}
