/**
 * Writes a model so that a reader sees the old file or the whole new one: everything
 * goes beside the final name, is synced, and is renamed in one step. Tensor bytes
 * are streamed, so memory does not grow with the weights.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InferOptError, invariant } from "../base/errors.js";
import { partialPath } from "../base/partial-file.js";
import { hold } from "../base/unfinished.js";
import {
  type HeldFile,
  holdByContent,
  isSystemError,
  openOutput,
  outputFailed,
  refuseSpecialFile,
} from "./output-file.js";
import { encodeVarints } from "./scan-model.js";
import {
  type ByteSource,
  encodeGraph,
  encodeModel,
  encodeTensor,
  type ModelProto,
  type TensorProto,
} from "./schema.js";
import { type PlacedTensor, tensorsWithin } from "./tensors-within.js";

/** Protobuf messages end at 2^31 - 1 bytes; some readers stop a little earlier. */
const LARGEST_PROTO = 2 ** 31 - (1 << 20);
/** Leaves room for nodes, names and shapes. */
const INLINE_LIMIT = LARGEST_PROTO - (64 << 20);
/** Tensors below this size stay in the model: shapes and scales are read by shape inference. */
const SMALLEST_EXTERNAL = 1024;
/** Readers map external data into memory, which needs page-aligned offsets. */
const PAGE = 4096;
const STREAM_FROM = 4096;

const GRAPH_TAG = (7 << 3) | 2;
const INITIALIZER_TAG = (5 << 3) | 2;
const RAW_DATA_TAG = (9 << 3) | 2;

export interface WriteOptions {
  /** Put weights beside the model even when they would fit inside. */
  readonly externalData?: boolean;
  /** Bytes of tensors from which on the weights go beside the model unasked. Default: near the 2 GB of protobuf. */
  readonly inlineLimit?: number;
  /** For a file that need not outlive a crash, and whose digest nobody asks for: it is written sooner. */
  readonly isScratch?: boolean;
}

/** A model that is wholly on disk under a temporary name, loadable there, and not yet at its final name. */
export interface StagedModel {
  readonly path: string;
  /** Model and external data together. */
  readonly sizeBytes: number;
  /** Digest of the .onnx file, empty for a scratch file; the name of the data file inside holds the digest of the data. */
  readonly sha256: string;
  /** Renames to the final name, once. Throws OUTPUT_FAILED, and then nothing of it is left. */
  commit(): void;
  /** Removes what was written; nothing happens after a commit. */
  discard(): void;
}

/** Writes `message` beside `outputPath`. Throws OUTPUT_FAILED (disk full, no permission, no folder) or OUTPUT_TOO_LARGE. */
export function stageModel(message: ModelProto, outputPath: string, options: WriteOptions = {}): StagedModel {
  const target = resolve(outputPath);
  const partial = partialPath(target);
  const dataPartial = `${partial}.data`;
  const tensors = [...tensorsWithin(message)].filter(({ tensor }) => tensor.source);
  const restore = rememberPlaces(tensors);
  let data: HeldFile | null = null;
  const holds = [partial, dataPartial].map((path) => hold({ path }));
  const finished = (): void => {
    for (const release of holds) release();
  };
  const removeAll = (): void => {
    // Asked first: where a path cannot be, removing it fails too, and would hide why.
    for (const path of [partial, dataPartial]) if (existsSync(path)) rmSync(path, { force: true });
    data?.release();
    finished();
  };
  try {
    refuseSpecialFile(target, outputPath);
    let dataBytes = 0;
    if (goBeside(tensors, options)) {
      const external = writeExternalData(tensors, dataPartial, basename(target), options.isScratch);
      if (external) {
        data = holdByContent(dataPartial, join(dirname(target), external.location));
        dataBytes = external.sizeBytes;
      }
    }
    const model = writeProto(message, tensors, partial, options.isScratch);
    let isOpen = true;
    return {
      path: partial,
      sizeBytes: model.sizeBytes + dataBytes,
      sha256: model.sha256,
      commit() {
        invariant(isOpen, `${outputPath} was committed or discarded before`);
        isOpen = false;
        // Before the model is in place: from then on it needs them.
        finished();
        data?.spare();
        try {
          refuseSpecialFile(target, outputPath);
          renameSync(partial, target);
        } catch (error) {
          removeAll();
          throw isSystemError(error) ? outputFailed(outputPath, error) : error;
        }
        data?.keep();
      },
      discard() {
        if (isOpen) removeAll();
        isOpen = false;
      },
    };
  } catch (error) {
    removeAll();
    throw isSystemError(error) ? outputFailed(outputPath, error) : error;
  } finally {
    restore();
  }
}

/** What `stageModel` would write, model and external data together, without writing it. */
export function modelBytes(message: ModelProto, outputPath: string, options: WriteOptions = {}): number {
  const tensors = [...tensorsWithin(message)].filter(({ tensor }) => tensor.source);
  const restore = rememberPlaces(tensors);
  try {
    const large = goBeside(tensors, options) ? externalOf(tensors) : [];
    const { offsets, sizeBytes } = layOutData(large);
    // Every digest is as long.
    pointAt(large, dataName(basename(resolve(outputPath)), "0".repeat(64)), offsets);
    return layOutProto(message, tensors).sizeBytes + sizeBytes;
  } finally {
    restore();
  }
}

function goBeside(tensors: readonly PlacedTensor[], { externalData, inlineLimit }: WriteOptions): boolean {
  const inlineBytes = tensors.reduce((sum, { tensor }) => sum + tensor.source!.byteLength, 0);
  return externalData || inlineBytes > (inlineLimit ?? INLINE_LIMIT);
}

/**
 * Writing changes where tensors say that their bytes lie. Parts of a model that are carried
 * through unread belong to the model, which may be written again: they are put back.
 */
export function rememberPlaces(tensors: readonly PlacedTensor[]): () => void {
  const before = tensors.map(({ tensor }) => ({ ...tensor }));
  return () =>
    tensors.forEach(({ tensor }, i) => {
      delete tensor.raw_data;
      delete tensor.data_location;
      delete tensor.external_data;
      Object.assign(tensor, before[i]);
    });
}

const externalOf = (tensors: readonly PlacedTensor[]): TensorProto[] =>
  tensors
    .filter(({ tensor, isInitializer }) => isInitializer && tensor.source!.byteLength >= SMALLEST_EXTERNAL)
    .map(({ tensor }) => tensor);

/** Where each begins in the data file, and where the last ends. */
function layOutData(large: readonly TensorProto[]): { offsets: number[]; sizeBytes: number } {
  let sizeBytes = 0;
  const offsets = large.map(({ source }) => {
    const offset = Math.ceil(sizeBytes / PAGE) * PAGE;
    sizeBytes = offset + source!.byteLength;
    return offset;
  });
  return { offsets, sizeBytes };
}

/** Named by content: an older pair of the same name stays whole until the model is renamed. */
const dataName = (modelName: string, sha256: string): string => `${modelName}.${sha256.slice(0, 12)}.data`;

function pointAt(large: readonly TensorProto[], location: string, offsets: readonly number[]): void {
  large.forEach((tensor, i) => {
    tensor.data_location = 1;
    tensor.external_data = [
      { key: "location", value: location },
      { key: "offset", value: String(offsets[i]) },
      { key: "length", value: String(tensor.source!.byteLength) },
    ];
    delete tensor.source;
  });
}

function writeExternalData(
  tensors: readonly PlacedTensor[],
  path: string,
  modelName: string,
  isScratch = false,
): { location: string; sizeBytes: number } | null {
  const large = externalOf(tensors);
  if (large.length === 0) return null;
  const { offsets, sizeBytes } = layOutData(large);
  const file = openOutput(path, { isSynced: !isScratch });
  try {
    for (const [i, tensor] of large.entries()) {
      file.write(new Uint8Array(offsets[i]! - file.position()));
      for (const chunk of tensor.source!.chunks()) file.write(chunk);
    }
  } finally {
    file.close();
  }
  const location = dataName(modelName, file.sha256());
  pointAt(large, location, offsets);
  return { location, sizeBytes };
}

interface ProtoLayout {
  readonly head: Uint8Array;
  readonly graphHead: Uint8Array;
  readonly body: Uint8Array;
  /** Tensors that are streamed. */
  readonly parts: readonly {
    readonly start: Uint8Array;
    readonly fields: Uint8Array;
    readonly rawHead: Uint8Array;
    readonly source: ByteSource;
  }[];
  readonly sizeBytes: number;
}

function layOutProto(message: ModelProto, tensors: readonly PlacedTensor[]): ProtoLayout {
  const graph = message.graph ?? {};
  const streamed = new Map<TensorProto, ByteSource>();
  for (const tensor of graph.initializer ?? []) {
    if (tensor.source && tensor.source.byteLength >= STREAM_FROM) streamed.set(tensor, tensor.source);
  }
  for (const { tensor } of tensors) {
    if (tensor.source && !streamed.has(tensor)) tensor.raw_data = tensor.source.read();
  }
  const rest = cloneMessage(graph, {
    initializer: (graph.initializer ?? []).filter((tensor) => !streamed.has(tensor)),
  });
  const head = encodeModel(cloneMessage(message, { graph: undefined }));
  const body = encodeGraph(rest);
  const parts = [...streamed].map(([tensor, source]) => {
    const fields = encodeTensor(tensor);
    const rawHead = encodeVarints(RAW_DATA_TAG, source.byteLength);
    const length = fields.length + rawHead.length + source.byteLength;
    return { start: encodeVarints(INITIALIZER_TAG, length), fields, rawHead, source, length };
  });
  const graphLength = body.length + parts.reduce((sum, part) => sum + part.start.length + part.length, 0);
  const graphHead = encodeVarints(GRAPH_TAG, graphLength);
  return { head, graphHead, body, parts, sizeBytes: head.length + graphHead.length + graphLength };
}

function writeProto(
  message: ModelProto,
  tensors: readonly PlacedTensor[],
  path: string,
  isScratch = false,
): { sizeBytes: number; sha256: string } {
  const { head, graphHead, body, parts, sizeBytes } = layOutProto(message, tensors);
  if (sizeBytes - graphHead.length > LARGEST_PROTO) {
    throw new InferOptError("OUTPUT_TOO_LARGE", "input", "the model exceeds the 2 GB that a protobuf file may have", {
      hint: "Pass --external-data to keep the weights beside the model.",
    });
  }

  const file = openOutput(path, { isSynced: !isScratch, isHashed: !isScratch });
  try {
    file.write(head);
    file.write(graphHead);
    file.write(body);
    for (const part of parts) {
      file.write(part.start);
      file.write(part.fields);
      file.write(part.rawHead);
      for (const chunk of part.source.chunks()) file.write(chunk);
    }
  } finally {
    file.close();
  }
  return { sizeBytes, sha256: file.sha256() };
}

/** A shallow copy with some fields replaced; unknown fields, which are not enumerable, come along. */
export function cloneMessage<T extends { $unknowns?: Uint8Array[] }>(
  message: T,
  fields: { [K in keyof T]?: T[K] | undefined },
): T {
  const copy = { ...message, ...fields };
  if (message.$unknowns) Object.defineProperty(copy, "$unknowns", { value: message.$unknowns, enumerable: false });
  return copy;
}
