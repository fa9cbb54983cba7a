import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { climbsOut } from "../base/contained-path.js";
import { InferOptError } from "../base/errors.js";
import type { FileState } from "../base/file-state.js";
import { fileSource } from "./byte-source.js";
import { isLinked, linkRoot, stateFromText } from "./link-place.js";
import type { WireModel } from "./read-model.js";
import type { ByteSource, TensorProto } from "./schema.js";

const EXTERNAL = 1;

export const isExternal = (tensor: TensorProto): boolean => tensor.data_location === EXTERNAL;

/** The model file as one reading of it left it: what it says of data files is looked up once for each of these. */
export type ModelHome = Pick<WireModel, "path" | "writtenFrom">;

/**
 * The file range that an external tensor points at. Locations are relative to the
 * model's folder and must stay inside it, links followed: a model is data from
 * elsewhere, and must not be able to read other files of its user. Where the model
 * itself is a link (as in the cache of Hugging Face), the folder that it really lies
 * in will do too.
 * `expectedBytes` is what dims and dtype ask for, null when the type is unknown.
 */
export function externalSource(home: ModelHome, tensor: TensorProto, expectedBytes: number | null): ByteSource {
  const name = tensor.name ?? "";
  const entries = new Map((tensor.external_data ?? []).map(({ key, value }) => [key ?? "", value ?? ""]));
  const location = entries.get("location");
  if (!location)
    throw bad("EXTERNAL_DATA_INVALID", name, "has no location", "The export is broken: save the model again.");

  const { path, size, state } = placeOf(home, name, location);
  const offset = wholeNumber(entries.get("offset") ?? "0", name, "offset");
  const stated = entries.get("length");
  const length =
    stated === undefined ? (expectedBytes ?? Math.max(0, size - offset)) : wholeNumber(stated, name, "length");
  if (expectedBytes !== null && length !== expectedBytes) {
    throw bad(
      "EXTERNAL_DATA_INVALID",
      name,
      `holds ${length} bytes in ${location} where its shape and type ask for ${expectedBytes}`,
      "The data file belongs to another model, or the export is broken: save the model again.",
      { location, length, expectedBytes },
    );
  }
  if (offset + length > size) {
    throw bad(
      "EXTERNAL_DATA_SHORT",
      name,
      `needs bytes ${offset} to ${offset + length} of ${location}, which has ${size}`,
      "The data file is truncated: copy or download it again.",
      { location, offset, length, size },
    );
  }
  // What a linked model was made from may be another file by now.
  const former = isLinked(home.path) ? stateFromText(entries.get("checksum")) : undefined;
  return fileSource(path, offset, length, former ?? state);
}

interface DataFile {
  readonly path: string;
  readonly size: number;
  readonly state: FileState;
}

/** By what was read of a model, which is gone soon: hundreds of tensors lie in the same file. */
const known = new WeakMap<ModelHome, Map<string, DataFile>>();

/** Once for each location. */
function placeOf(home: ModelHome, tensor: string, location: string): DataFile {
  const files = known.get(home) ?? new Map<string, DataFile>();
  known.set(home, files);
  let file = files.get(location);
  if (!file) {
    file = dataFile(home.writtenFrom ?? home.path, tensor, location);
    files.set(location, file);
  }
  return file;
}

function dataFile(modelPath: string, name: string, location: string): DataFile {
  const folder = isLinked(modelPath) ? linkRoot(modelPath) : dirname(resolve(modelPath));
  const path = resolve(folder, location);
  if (isAbsolute(location) || climbsOut(folder, path)) throw escapes(name, location);

  try {
    const real = realpathSync(path);
    const homes = [realpathSync(folder), dirname(realpathSync(modelPath))];
    if (homes.every((home) => climbsOut(home, real))) throw escapes(name, location);
    const stats = statSync(real, { bigint: true });
    if (!stats.isFile()) {
      throw bad(
        "EXTERNAL_DATA_INVALID",
        name,
        `points at ${location}, which is not a file`,
        "The export is broken: save the model again.",
        { location },
      );
    }
    const { ino, mtimeNs, size } = stats;
    return { path, size: Number(size), state: { ino, mtimeNs, size } };
  } catch (cause) {
    if (cause instanceof InferOptError) throw cause;
    throw bad(
      "EXTERNAL_DATA_MISSING",
      name,
      `points at ${location}, which is not beside ${modelPath}`,
      "Keep the data file next to the .onnx file that it was saved with.",
      { location },
      cause,
    );
  }
}

function wholeNumber(text: string, tensor: string, field: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw bad("EXTERNAL_DATA_INVALID", tensor, `has ${field} "${text}"`, "The export is broken: save the model again.");
}

const escapes = (tensor: string, location: string): InferOptError =>
  bad(
    "EXTERNAL_DATA_OUTSIDE",
    tensor,
    `points at ${location}, outside the model's folder`,
    "Move the data file beside the model and save the model with a relative location.",
    { location },
  );

const bad = (
  code: string,
  tensor: string,
  what: string,
  hint: string,
  fields: Record<string, unknown> = {},
  cause?: unknown,
): InferOptError =>
  new InferOptError(code, "input", `tensor "${tensor}" ${what}`, { hint, fields: { tensor, ...fields }, cause });
