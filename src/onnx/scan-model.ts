/**
 * Reads a model file without its weights: walks the wire format, copies everything
 * except large `TensorProto.raw_data`, and puts the number of a file range in its
 * place. What comes out is small enough to decode, whatever the file weighs.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { InferOptError } from "../base/errors.js";
import { RANGE_FIELD } from "./schema.js";

export interface FileRange {
  readonly offset: number;
  readonly length: number;
}

export interface ScannedModel {
  /** A ModelProto whose large tensors hold `range` instead of `raw_data`. */
  readonly bytes: Uint8Array;
  readonly ranges: readonly FileRange[];
}

/** Tensors below this size are kept in memory: most are shapes, scales and biases. */
const KEEP_BELOW = 4096;
const WINDOW_BYTES = 1 << 20;
/** The most bytes that one read call may ask for. */
const READ_BYTES = 1 << 30;
/** Protobuf ends here, and so does what is left of a real model without its large tensors. */
const MOST_KEPT = 2 ** 31 - 1;
/** Message levels, no exporter goes so deep; a nested body takes three. */
const DEEPEST = 100;

type Kind = "model" | "graph" | "node" | "attribute" | "function" | "sparse" | "tensor";

/** Fields that can hold tensors, by message and field number. */
const children: Record<Kind, Readonly<Record<number, Kind>>> = {
  model: { 7: "graph", 25: "function" },
  graph: { 1: "node", 5: "tensor", 15: "sparse" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse" },
  function: { 7: "node", 11: "attribute" },
  sparse: { 1: "tensor", 2: "tensor" },
  tensor: {},
};
const RAW_DATA = 9;

/** Throws MODEL_CORRUPT when the bytes are not a protobuf message of that form. */
export function scanModel(path: string): ScannedModel {
  const fd = openSync(path, "r");
  try {
    return scanBytes(fileWindow(fd, fstatSync(fd).size, path), path);
  } finally {
    closeSync(fd);
  }
}

interface Window {
  readonly size: number;
  /** A copy of [from, to). */
  copy(from: number, to: number): Uint8Array;
  byte(at: number): number;
}

function fileWindow(fd: number, size: number, path: string): Window {
  const buffer = new Uint8Array(Math.min(WINDOW_BYTES, size));
  let start = 0;
  let end = 0;
  const readInto = (target: Uint8Array, at: number): void => {
    let done = 0;
    while (done < target.length) {
      const got = readSync(fd, target, done, Math.min(target.length - done, READ_BYTES), at + done);
      if (got === 0) throw corruptModel(path, "the file shrank while it was read", at + done);
      done += got;
    }
  };
  return {
    size,
    byte(at) {
      if (at < start || at >= end) {
        start = at;
        end = Math.min(size, at + buffer.length);
        readInto(buffer.subarray(0, end - start), start);
      }
      return buffer[at - start]!;
    },
    copy(from, to) {
      if (from >= start && to <= end) return buffer.slice(from - start, to - start);
      const bytes = new Uint8Array(to - from);
      readInto(bytes, from);
      return bytes;
    },
  };
}

const corruptModel = (path: string, what: string, offset: number): InferOptError =>
  new InferOptError("MODEL_CORRUPT", "input", `${path} is not a readable ONNX model: ${what} at byte ${offset}`, {
    hint: "The file is truncated or is something else: export, copy or download it again.",
    fields: { path, offset },
  });

/** Beyond what readers of the format take, protobuf's own and ONNX Runtime's among them. */
export const tooDeep = (path: string): InferOptError =>
  new InferOptError("MODEL_TOO_DEEP", "input", `${path} has more than ${DEEPEST} messages inside each other`, {
    hint: "Export it with fewer If, Loop and Scan in the bodies of others: about 30 levels are possible.",
    fields: { path, deepest: DEEPEST },
  });

function scanBytes(file: Window, path: string): ScannedModel {
  const ranges: FileRange[] = [];
  const corrupt = (at: number, what: string): InferOptError => corruptModel(path, what, at);
  let kept = 0;

  let at = 0;
  const varint = (end: number): number => {
    let value = 0;
    let scale = 1;
    const from = at;
    for (let i = 0; i < 10; i++) {
      if (at >= end) throw corrupt(from, "a number runs past its message");
      const byte = file.byte(at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw corrupt(from, "a number has no end");
  };

  const scan = (kind: Kind, end: number, depth: number, out: Uint8Array[]): number => {
    if (depth > DEEPEST) throw tooDeep(path);
    let written = 0;
    const emit = (bytes: Uint8Array): void => {
      out.push(bytes);
      written += bytes.length;
    };
    let copyFrom = at; // fields passed over and not yet copied
    const flush = (to: number): void => {
      if (to <= copyFrom) return;
      kept += to - copyFrom;
      if (kept > MOST_KEPT) throw corrupt(copyFrom, "more than 2 GB that are not tensors");
      emit(file.copy(copyFrom, to));
    };
    while (at < end) {
      const fieldStart = at;
      const tag = varint(end);
      const field = Math.floor(tag / 8);
      if (field === 0) throw corrupt(fieldStart, "field number 0");
      switch (tag % 8) {
        case 0:
          varint(end);
          continue;
        case 1:
          at += 8;
          break;
        case 5:
          at += 4;
          break;
        case 2: {
          const length = varint(end);
          const bodyStart = at;
          const bodyEnd = at + length;
          if (bodyEnd > end) throw corrupt(fieldStart, `field ${field} of ${kind} runs past its message`);
          at = bodyEnd;
          if (kind === "tensor" && field === RAW_DATA && length >= KEEP_BELOW) {
            flush(fieldStart);
            ranges.push({ offset: bodyStart, length });
            emit(encodeVarints(RANGE_FIELD * 8, ranges.length));
            copyFrom = bodyEnd;
          } else if (children[kind][field] && length >= KEEP_BELOW) {
            flush(fieldStart);
            const body: Uint8Array[] = [];
            at = bodyStart;
            const bodyLength = scan(children[kind][field], bodyEnd, depth + 1, body);
            emit(encodeVarints(tag, bodyLength));
            for (const piece of body) emit(piece);
            copyFrom = bodyEnd;
          }
          continue;
        }
        default:
          throw corrupt(fieldStart, `field ${field} of ${kind} has wire type ${tag % 8}`);
      }
      if (at > end) throw corrupt(fieldStart, `field ${field} of ${kind} runs past its message`);
    }
    flush(end);
    return written;
  };

  const pieces: Uint8Array[] = [];
  const total = scan("model", file.size, 0, pieces);
  const bytes = new Uint8Array(total);
  let to = 0;
  for (const piece of pieces) {
    bytes.set(piece, to);
    to += piece.length;
  }
  return { bytes, ranges };
}

/** Unsigned numbers below 2^53 in the variable-length form of the wire. */
export function encodeVarints(...values: number[]): Uint8Array {
  const bytes: number[] = [];
  for (let value of values) {
    while (value >= 0x80) {
      bytes.push((value % 128) + 0x80);
      value = Math.floor(value / 128);
    }
    bytes.push(value);
  }
  return Uint8Array.from(bytes);
}
