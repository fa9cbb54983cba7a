/**
 * A folder of `test_data_set_*` as ONNX ships them: `input_*.pb` hold one TensorProto each,
 * in the order of the model's inputs; `output_*.pb` are the outputs that the model's
 * author got. A tensor goes by the name written in it; where names are missing or are none
 * of the model's, the number in the file name is the position.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "../base/errors.js";
import type { Tensor } from "../ir/index.js";
import { tensorFromProto } from "../ir/serde/tensor.js";
import { decodeTensor } from "../onnx/index.js";
import type { Dataset, InputSpec, NumberedTensor, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { sampleOrder } from "./select.js";

export const isTestDataFolder = (names: readonly string[]): boolean => names.some(isSetName) || names.some(isInputName);

const isSetName = (name: string): boolean => /^test_data_set_\d+$/.test(name);
const isInputName = (name: string): boolean => /^input_\d+\.pb$/.test(name);

/**
 * `path` holds the sets, or is one itself. Throws DATASET_EMPTY; DATASET_TENSOR_INVALID and
 * DATASET_INPUT_UNKNOWN show while samples are read.
 */
export async function openTestData(path: string, signature?: readonly InputSpec[]): Promise<Dataset> {
  const names = await readdir(path);
  const sets = names.filter(isSetName).sort(byNumber);
  const folders = sets.length > 0 ? sets.map((name) => join(path, name)) : [path];
  const dataset: Dataset = {
    path,
    count: folders.length,
    hasLabels: false,
    async *samples(indices) {
      for (const index of sampleOrder(dataset, indices)) yield await readSet(folders[index]!, signature);
    },
  };
  return dataset;
}

async function readSet(folder: string, signature: readonly InputSpec[] | undefined): Promise<Sample> {
  const id = basename(folder);
  const inputs = await readTensors(folder, "input");
  const references = await readTensors(folder, "output");
  // A model may have no inputs; a set without outputs either says nothing.
  if (inputs.length === 0 && references.length === 0) {
    throw datasetError(
      "DATASET_EMPTY",
      `${folder} holds no input_*.pb`,
      "Each set needs one input_N.pb per model input.",
      { fields: { path: folder } },
    );
  }
  return { id, feeds: nameInputs(folder, inputs, signature), labels: null, references };
}

/** Names of their own when all are the model's, else by position. */
function nameInputs(
  folder: string,
  inputs: readonly NumberedTensor[],
  signature: readonly InputSpec[] | undefined,
): ReadonlyMap<string, Tensor> {
  const known = new Set(signature?.map(({ name }) => name));
  const distinct = new Set(inputs.map(({ name }) => name)).size === inputs.length;
  const byName = distinct && inputs.every(({ name }) => (signature ? known.has(name) : name !== ""));
  return new Map(
    inputs.map(({ name, position, tensor }) => {
      if (byName) return [name, tensor];
      if (!signature) return [`input_${position}`, tensor];
      const input = signature[position];
      if (input) return [input.name, tensor];
      throw datasetError(
        "DATASET_INPUT_UNKNOWN",
        `${folder} holds input_${position}.pb, but the model has ${signature.length} inputs`,
        "The data belongs to another model.",
        { fields: { path: folder, position } },
      );
    }),
  );
}

async function readTensors(folder: string, kind: "input" | "output"): Promise<NumberedTensor[]> {
  const pattern = new RegExp(`^${kind}_(\\d+)\\.pb$`);
  const files = (await readdir(folder)).filter((name) => pattern.test(name)).sort(byNumber);
  return Promise.all(
    files.map(async (file) => {
      const { name, tensor } = await readTensor(join(folder, file));
      return { name, tensor, position: Number(pattern.exec(file)![1]) };
    }),
  );
}

async function readTensor(path: string): Promise<{ name: string; tensor: Tensor }> {
  const bytes = await readFile(path);
  try {
    const proto = decodeTensor(bytes);
    return { name: proto.name ?? "", tensor: tensorFromProto(proto, { path, ranges: [] }) };
  } catch (cause) {
    throw datasetError(
      "DATASET_TENSOR_INVALID",
      `${path} holds no tensor that can be read: ${messageOf(cause)}`,
      "Only tensors are supported, not sequences or optionals; if it is one, write the file again.",
      { fields: { path }, cause },
    );
  }
}

const byNumber = (a: string, b: string): number => Number(/\d+/.exec(a)![0]) - Number(/\d+/.exec(b)![0]);
