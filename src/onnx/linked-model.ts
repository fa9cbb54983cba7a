/**
 * Models for the runtime's eyes only: a small file whose weights are pointed at where
 * they lie already, be it in the middle of another model. Nothing is copied, and the
 * runtime maps what it reads, so that trying out a rewritten graph costs little more
 * memory than its activations.
 *
 * The places are external data relative to the root of the file system, each with the state
 * of its file, by which a later reading tells that it was replaced. No other reader
 * accepts that, hence a suffix of its own; whoever opens such a file names the root.
 */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { invariant } from "../base/errors.js";
import type { FilePlace } from "../base/file-state.js";
import { fileSource } from "./byte-source.js";
import { externalSource, isExternal } from "./external-data.js";
import { isLinked, linkedSuffix, linkRoot, stateAsText } from "./link-place.js";
import { isSystemError, outputFailed } from "./output-file.js";
import { readModel } from "./read-model.js";
import { encodeModel, type ModelProto, type TensorProto } from "./schema.js";
import { tensorsWithin } from "./tensors-within.js";
import { rememberPlaces } from "./write-model.js";

/** Shorter tensors stay inside: inference reads shapes and axes. */
const SMALLEST_LINKED = 1024;

/**
 * Writes `message` to `path`, which ends in `linkedSuffix()`. Weights that no file holds go
 * to a file beside it. Neither survives a crash of the machine: both are scratch. Throws
 * OUTPUT_FAILED.
 */
export function writeLinked(message: ModelProto, path: string): void {
  invariant(isLinked(path), `${path} does not end in ${linkedSuffix()}`);
  const tensors = [...tensorsWithin(message)].filter(({ tensor }) => tensor.source);
  const restore = rememberPlaces(tensors);
  try {
    const loose: TensorProto[] = [];
    for (const { tensor, isInitializer } of tensors) {
      const source = tensor.source!;
      const canLink = isInitializer && source.byteLength >= SMALLEST_LINKED;
      if (!canLink) tensor.raw_data = source.read();
      else if (source.file && linkRoot(source.file.path) === linkRoot(path)) {
        place(tensor, source.file, source.byteLength);
      } else loose.push(tensor);
    }
    placeBeside(loose, `${path}.data`);
    writeFileSync(path, encodeModel(message));
  } catch (error) {
    throw isSystemError(error) ? outputFailed(path, error) : error;
  } finally {
    restore();
  }
}

/**
 * A linked twin of a model file: every field as it came, only weights are pointed at
 * instead of carried. Throws as `readModel` and `externalSource` do.
 */
export function linkModelFile(modelPath: string, path: string): void {
  const home = readModel(modelPath);
  const { message, ranges } = home;
  for (const { tensor } of tensorsWithin(message)) {
    if (tensor.range) {
      const { offset, length } = ranges[tensor.range - 1]!;
      tensor.source = fileSource(home.path, offset, length, home.state);
      delete tensor.range;
    } else if (isExternal(tensor)) {
      tensor.source = externalSource(home, tensor, null);
      delete tensor.external_data;
      delete tensor.data_location;
    }
  }
  writeLinked(message, path);
}

function placeBeside(tensors: readonly TensorProto[], path: string): void {
  if (tensors.length === 0) return;
  const fd = openSync(path, "w");
  try {
    let position = 0;
    for (const tensor of tensors) {
      const source = tensor.source!;
      place(tensor, { path, offset: position }, source.byteLength);
      for (const chunk of source.chunks()) position += writeWhole(fd, chunk);
    }
  } finally {
    closeSync(fd);
  }
}

function writeWhole(fd: number, bytes: Uint8Array): number {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
  return bytes.length;
}

function place(tensor: TensorProto, { path, offset, state }: FilePlace, length: number): void {
  const location = relative(linkRoot(path), resolve(path)).split(sep).join("/");
  tensor.data_location = 1;
  tensor.external_data = [
    { key: "location", value: location },
    { key: "offset", value: String(offset) },
    { key: "length", value: String(length) },
    ...(state ? [{ key: "checksum", value: stateAsText(state) }] : []),
  ];
  delete tensor.source;
}
