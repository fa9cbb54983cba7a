import { type BigIntStats, statSync } from "node:fs";
import { resolve } from "node:path";
import { InferOptError, messageOf } from "../base/errors.js";
import type { FileState } from "../base/file-state.js";
import { nearbyFile } from "../base/nearby-file.js";
import { readRange } from "./byte-source.js";
import { type FileRange, scanModel, tooDeep } from "./scan-model.js";
import { decodeModel, hasField, type ModelProto } from "./schema.js";
import { notOnnx, refuseForeignFile } from "./sniff.js";
import { TooDeep } from "./wire-format.js";

/** A decoded model whose large tensors are still on disk. */
export interface WireModel {
  /** Absolute; external data is found relative to its folder. */
  readonly path: string;
  /** The model whose external data is meant, where a runtime wrote this one into another folder. */
  readonly writtenFrom?: string;
  readonly sizeBytes: number;
  /** Of the file, before any of it was read, where some of it is read later: weights. */
  readonly state?: FileState;
  readonly message: ModelProto;
  /** What `TensorProto.range` counts. */
  readonly ranges: readonly FileRange[];
}

/**
 * Reads a model file; weights stay on disk. Throws MODEL_MISSING, MODEL_UNREADABLE,
 * MODEL_EMPTY, MODEL_NOT_ONNX, MODEL_TOO_DEEP or MODEL_CORRUPT.
 */
export function readModel(modelPath: string): WireModel {
  if (modelPath === "") throw emptyPath();
  const path = resolve(modelPath);
  const state = stateOf(path, modelPath);
  const sizeBytes = Number(state.size);
  refuseForeignFile(modelPath, readHead(path, Math.min(64, sizeBytes)));
  const scanned = scanModel(path);
  let message: ModelProto;
  try {
    message = decodeModel(scanned.bytes);
  } catch (cause) {
    if (cause instanceof TooDeep) throw tooDeep(modelPath);
    throw notOnnx(
      modelPath,
      `its fields do not decode (${messageOf(cause)})`,
      "Export, copy or download it again.",
      cause,
    );
  }
  if (!message.graph) throw notOnnx(modelPath, "it holds no graph", "Pass the .onnx file that the exporter wrote.");
  if (!hasField(message, "ir_version")) {
    throw notOnnx(modelPath, "it states no IR version", "If it is a TensorFlow .pb, convert it with tf2onnx first.");
  }
  return { path, sizeBytes, state, message, ranges: scanned.ranges };
}

/** Which would stand for the working folder. */
const emptyPath = (): InferOptError =>
  new InferOptError("MODEL_MISSING", "input", "the path of the model is empty", {
    hint: "Pass the .onnx file; a variable of the script may not be set.",
    fields: { path: "" },
  });

/** Weights are read when they are wanted, and external data from beside the file, so a pipe will not do. */
const notPiped = (cause: unknown): InferOptError =>
  new InferOptError("MODEL_MISSING", "input", "- is no file, and a model is not read from standard input", {
    hint: "Save it to a file first, and name that.",
    cause,
    fields: { path: "-" },
  });

function stateOf(path: string, shown: string): FileState {
  let stats: BigIntStats;
  try {
    stats = statSync(path, { bigint: true });
  } catch (cause) {
    if (shown === "-") throw notPiped(cause);
    const likely = nearbyFile(shown);
    throw new InferOptError("MODEL_MISSING", "input", `there is no file ${shown}`, {
      hint: likely === null ? "Check the path." : `Did you mean ${likely}?`,
      cause,
      fields: { path },
    });
  }
  if (!stats.isFile()) {
    throw new InferOptError("MODEL_UNREADABLE", "input", `${shown} is not a file`, {
      hint: "Pass the .onnx file itself.",
      fields: { path },
    });
  }
  const { ino, mtimeNs, size } = stats;
  return { ino, mtimeNs, size };
}

function readHead(path: string, length: number): Uint8Array {
  return length === 0 ? new Uint8Array(0) : readRange(path, 0, length);
}
