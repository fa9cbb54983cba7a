/**
 * Writes a model so that a reader sees the old file or the whole new one: everything
 * goes beside the final name, is synced, and is renamed in one step. Tensor bytes
 * are streamed, so memory does not grow with the weights.
 */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InferOptError } from "../base/errors.js";
import { encodeVarints } from "./scan-model.js";
import {
  type AttributeProto,
  type ByteSource,
  encodeGraph,
  encodeModel,
  encodeTensor,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  type TensorProto,
} from "./schema.js";

/** Protobuf messages end at 2^31 - 1 bytes; some readers stop a little earlier. */
const LARGEST_PROTO = 2 ** 31 - (1 << 20);
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
}

/** A model that is wholly on disk under a temporary name, loadable there, and not yet at its final name. */
export interface StagedModel {
  readonly path: string;
  /** Model and external data together. */
  readonly sizeBytes: number;
  /** Digest of the .onnx file; the name of the data file inside holds the digest of the data. */
  readonly sha256: string;
  /** Renames to the final name. */
  commit(): void;
  /** Renames to another name in the same folder, for a candidate that was rejected but is wanted. */
  commitAs(path: string): void;
  /** Removes what was written. */
  discard(): void;
}

/** Writes `message` beside `outputPath`. Throws OUTPUT_FAILED (disk full, no permission, no folder). */
export function stageModel(message: ModelProto, outputPath: string, options: WriteOptions = {}): StagedModel {
  const target = resolve(outputPath);
  const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  const dataPartial = `${partial}.data`;
  const written = new Set<string>([partial, dataPartial]);
  try {
    const tensors = [...tensorsWithSource(message)];
    const inlineBytes = tensors.reduce((sum, tensor) => sum + tensor.source!.byteLength, 0);
    let dataBytes = 0;
    if (options.externalData || inlineBytes > LARGEST_PROTO - (64 << 20)) {
      const data = writeExternalData(tensors, dataPartial, basename(target));
      if (data) {
        const dataPath = join(dirname(target), data.location);
        renameSync(dataPartial, dataPath);
        written.add(dataPath);
        dataBytes = data.sizeBytes;
      }
    }
    const model = writeProto(message, partial);
    const commitAs = (path: string): void => wrap(path, () => renameSync(partial, path));
    return {
      path: partial,
      sizeBytes: model.sizeBytes + dataBytes,
      sha256: model.sha256,
      commit: () => commitAs(target),
      commitAs: (path) => commitAs(resolve(path)),
      discard: () => removeAll(written),
    };
  } catch (error) {
    removeAll(written);
    throw error instanceof InferOptError ? error : outputFailed(outputPath, error);
  }
}

function removeAll(paths: Iterable<string>): void {
  for (const path of paths) rmSync(path, { force: true });
}

function wrap<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw outputFailed(path, cause);
  }
}

/** Turns a failed write into words. */
export function outputFailed(path: string, cause: unknown): InferOptError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reasons: Record<string, [string, string]> = {
    ENOSPC: ["the disk is full", "Free some space or write elsewhere with -o."],
    EDQUOT: ["the disk quota is used up", "Free some space or write elsewhere with -o."],
    EACCES: ["permission denied", "Write to a folder of your own with -o."],
    EPERM: ["permission denied", "Write to a folder of your own with -o."],
    EROFS: ["the file system is read-only", "Write elsewhere with -o."],
    ENOENT: ["its folder does not exist", "Make the folder first."],
    EISDIR: ["it is a folder", "Name a file."],
    ENOTDIR: ["part of its path is a file", "Name a file in an existing folder."],
    EFBIG: ["the file system or a limit allows no file of that size", "Write elsewhere with -o, or raise the limit."],
  };
  const [why, hint] = reasons[code ?? ""] ?? [
    cause instanceof Error ? cause.message : String(cause),
    "Try another place with -o.",
  ];
  return new InferOptError("OUTPUT_FAILED", "input", `cannot write ${path}: ${why}`, {
    hint: `${hint} Nothing was overwritten.`,
    cause,
    fields: { path },
  });
}

/** Every tensor of the model that still has its bytes elsewhere, in a stable order. */
function* tensorsWithSource(message: ModelProto): Generator<TensorProto> {
  if (message.graph) yield* graphTensors(message.graph);
  for (const fn of message.functions ?? []) for (const node of fn.node ?? []) yield* nodeTensors(node);
}

function* graphTensors(graph: GraphProto): Generator<TensorProto> {
  for (const tensor of graph.initializer ?? []) if (tensor.source) yield tensor;
  for (const sparse of graph.sparse_initializer ?? []) {
    for (const tensor of [sparse.values, sparse.indices]) if (tensor?.source) yield tensor;
  }
  for (const node of graph.node ?? []) yield* nodeTensors(node);
}

function* nodeTensors(node: NodeProto): Generator<TensorProto> {
  for (const attribute of node.attribute ?? []) yield* attributeTensors(attribute);
}

function* attributeTensors(attribute: AttributeProto): Generator<TensorProto> {
  const sparse = [attribute.sparse_tensor, ...(attribute.sparse_tensors ?? [])];
  const tensors = [
    attribute.t,
    ...(attribute.tensors ?? []),
    ...sparse.flatMap((each) => [each?.values, each?.indices]),
  ];
  for (const tensor of tensors) if (tensor?.source) yield tensor;
  for (const graph of [attribute.g, ...(attribute.graphs ?? [])]) if (graph) yield* graphTensors(graph);
}

function writeExternalData(
  tensors: readonly TensorProto[],
  path: string,
  modelName: string,
): { location: string; sizeBytes: number } | null {
  const large = tensors.filter((tensor) => tensor.source!.byteLength >= SMALLEST_EXTERNAL);
  if (large.length === 0) return null;
  const file = openOutput(path);
  const offsets: number[] = [];
  try {
    for (const tensor of large) {
      file.write(new Uint8Array((PAGE - (file.position() % PAGE)) % PAGE));
      offsets.push(file.position());
      for (const chunk of tensor.source!.chunks()) file.write(chunk);
    }
  } finally {
    file.close();
  }
  // Named by content: an older pair of the same name stays whole until the model is renamed.
  const location = `${modelName}.${file.sha256().slice(0, 12)}.data`;
  large.forEach((tensor, i) => {
    tensor.data_location = 1;
    tensor.external_data = [
      { key: "location", value: location },
      { key: "offset", value: String(offsets[i]) },
      { key: "length", value: String(tensor.source!.byteLength) },
    ];
    delete tensor.source;
  });
  return { location, sizeBytes: file.position() };
}

function writeProto(message: ModelProto, path: string): { sizeBytes: number; sha256: string } {
  const graph = message.graph ?? {};
  const streamed = (graph.initializer ?? []).filter((t) => t.source && t.source.byteLength >= STREAM_FROM);
  const sources = new Map<TensorProto, ByteSource>();
  for (const tensor of tensorsWithSource(message)) {
    sources.set(tensor, tensor.source!);
    if (!streamed.includes(tensor)) tensor.raw_data = tensor.source!.read();
  }
  const rest = cloneMessage(graph, {
    initializer: (graph.initializer ?? []).filter((tensor) => !streamed.includes(tensor)),
  });
  const head = encodeModel(cloneMessage(message, { graph: undefined }));
  const body = encodeGraph(rest);
  const parts = streamed.map((tensor) => {
    const fields = encodeTensor(tensor);
    const source = sources.get(tensor)!;
    const rawHead = encodeVarints(RAW_DATA_TAG, source.byteLength);
    const length = fields.length + rawHead.length + source.byteLength;
    return { start: encodeVarints(INITIALIZER_TAG, length), fields, rawHead, source, length };
  });
  const graphLength = body.length + parts.reduce((sum, part) => sum + part.start.length + part.length, 0);
  if (head.length + graphLength > LARGEST_PROTO) {
    throw new InferOptError("OUTPUT_TOO_LARGE", "input", "the model exceeds the 2 GB that a protobuf file may have", {
      hint: "Pass --external-data to keep the weights beside the model.",
    });
  }

  const file = openOutput(path);
  try {
    file.write(head);
    file.write(encodeVarints(GRAPH_TAG, graphLength));
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
  return { sizeBytes: file.position(), sha256: file.sha256() };
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

function openOutput(path: string) {
  const fd = openSync(path, "w");
  const hash = createHash("sha256");
  let position = 0;
  let digest: string | null = null;
  return {
    position: () => position,
    write(bytes: Uint8Array): void {
      hash.update(bytes);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
      position += bytes.length;
    },
    close(): void {
      try {
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
    sha256: (): string => (digest ??= hash.digest("hex")),
  };
}
