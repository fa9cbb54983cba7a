/**
 * From a sample as it lies in a file to what a model takes: the inputs asked for, in
 * their dtype and rank. Only conversions that mean the same thing to the model are made:
 *
 *   f64 -> f32, f32 -> f16 (nearest value)    i32 -> i64 (exact)
 *   [...dims] -> [1, ...dims]  when the model has one axis more and it may be 1
 *   [1, ...dims] -> [...dims]  when the model has one axis less
 */
import { f32ToF16 } from "../base/f16.js";
import { nearestName } from "../base/nearest.js";
import { aligned, type DType, formatShape, type Shape, Tensor } from "../ir/index.js";
import type { InputSpec, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";

/** What was changed to make a tensor fit. */
export interface Adjustment {
  readonly converted: { readonly from: DType; readonly to: DType } | null;
  readonly batch: "added" | "dropped" | null;
}

/**
 * The sample with exactly the inputs of `signature`; others are left out.
 * Throws DATASET_INPUT_MISSING, DATASET_INPUT_KIND, DATASET_DTYPE or DATASET_SHAPE, naming sample and input.
 */
export function conform(sample: Sample, signature: readonly InputSpec[]): Sample {
  const feeds = new Map(
    signature.map((spec) => [spec.name, conformTensor(feedOf(sample, spec.name), spec, sample.id).tensor]),
  );
  return { ...sample, feeds };
}

/** Throws DATASET_INPUT_MISSING. */
export function feedOf(sample: Sample, name: string): Tensor {
  const tensor = sample.feeds.get(name);
  if (tensor) return tensor;
  const nearest = nearestName(name, sample.feeds.keys());
  throw datasetError(
    "DATASET_INPUT_MISSING",
    `${sample.id} has nothing for the model's input "${name}"`,
    name === "labels"
      ? "In .npz and .jsonl files, labels goes to the metric: give the model's input another name, or give the data with a manifest.json or as test_data_set_* folders, with a value for it."
      : nearest === null
        ? "Give every input of the model a value."
        : `The nearest name in the data is "${nearest}".`,
    { fields: { sample: sample.id, input: name, nearest } },
  );
}

/** Throws DATASET_INPUT_KIND, DATASET_DTYPE or DATASET_SHAPE. */
export function conformTensor(
  tensor: Tensor,
  spec: InputSpec,
  sampleId: string,
): Adjustment & { readonly tensor: Tensor } {
  const { dtype } = spec;
  if (dtype === null) {
    throw datasetError(
      "DATASET_INPUT_KIND",
      `the model's input "${spec.name}" is no tensor`,
      "Such inputs cannot be fed yet.",
      {
        fields: { input: spec.name },
      },
    );
  }
  const { dims, batch } = conformDims(tensor.dims, spec.shape);
  const shaped = batch ? tensor.withDims(dims) : tensor;
  if (spec.shape && !fits(dims, spec.shape)) throw shapeError(tensor, spec, sampleId);
  if (tensor.dtype === dtype) return { tensor: shaped, batch, converted: null };
  const convert = conversions[`${tensor.dtype}>${dtype}`];
  if (!convert) throw dtypeError(tensor, spec, sampleId);
  return { tensor: convert(shaped), batch, converted: { from: tensor.dtype, to: dtype } };
}

const conversions: Readonly<Record<string, (tensor: Tensor) => Tensor>> = {
  "f64>f32": (tensor) => Tensor.f32(tensor.dims, tensor.toF32()!),
  "f32>f16": (tensor) => Tensor.ofArray("f16", tensor.dims, f32ToF16(tensor.f32())),
  "i32>i64": (tensor) =>
    Tensor.ofArray("i64", tensor.dims, BigInt64Array.from(aligned(Int32Array, tensor.bytes()), BigInt)),
};

function conformDims(
  dims: readonly number[],
  shape: Shape | null,
): { dims: readonly number[]; batch: Adjustment["batch"] } {
  if (shape && dims.length + 1 === shape.length && (typeof shape[0] !== "number" || shape[0] === 1)) {
    return { dims: [1, ...dims], batch: "added" };
  }
  if (shape && dims.length === shape.length + 1 && dims[0] === 1) return { dims: dims.slice(1), batch: "dropped" };
  return { dims, batch: null };
}

const fits = (dims: readonly number[], shape: Shape): boolean =>
  dims.length === shape.length && shape.every((dim, axis) => typeof dim !== "number" || dim === dims[axis]);

function shapeError(tensor: Tensor, { name, shape }: InputSpec, sampleId: string) {
  const dims = `[${tensor.dims.join(",")}]`;
  const batch = shape!.length === tensor.dims.length && fits(tensor.dims.slice(1), shape!.slice(1)) ? shape![0] : null;
  return datasetError(
    "DATASET_SHAPE",
    `${sampleId}: input "${name}" has shape ${dims} in the data, and the model takes ${formatShape(shape)}`,
    batch !== null
      ? `The model takes batches of exactly ${batch}: export it with a free batch axis, or give whole batches as test_data_set_* folders.`
      : tensor.dims.length === shape!.length
        ? "Check the order of the axes (channels first or last), and the size the model was exported for."
        : "Check the number of axes: the first one of an .npz array counts samples.",
    { fields: { sample: sampleId, input: name, dims: tensor.dims, shape } },
  );
}

/** How numpy spells the types that hints mention. */
const numpyName: Partial<Record<DType, string>> = {
  f16: "float16",
  f32: "float32",
  f64: "float64",
  i8: "int8",
  u8: "uint8",
  i16: "int16",
  u16: "uint16",
  i32: "int32",
  u32: "uint32",
  i64: "int64",
  u64: "uint64",
  bool: "bool",
};

function dtypeError(tensor: Tensor, { name, dtype }: InputSpec, sampleId: string) {
  const target = numpyName[dtype!];
  return datasetError(
    "DATASET_DTYPE",
    `${sampleId}: input "${name}" is ${tensor.dtype} in the data, and the model takes ${dtype}`,
    target ? `Convert the array with .astype("${target}") and save it again.` : "Feed the type that the model takes.",
    { fields: { sample: sampleId, input: name, found: tensor.dtype, wanted: dtype } },
  );
}
