/** Tensors as metrics see them: plain objects with a typed array, the same for built-in metrics and users' modules. */
import { InferOptError } from "../base/errors.js";
import { bf16ToF32, f16ToF32 } from "../base/f16.js";
import { aligned, type DType, type Tensor } from "../ir/index.js";

export type MetricData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | readonly string[];

export interface MetricTensor {
  /** As ONNX Runtime spells it: float32, float16, int64, bool, string, ... */
  readonly type: string;
  readonly dims: readonly number[];
  /** Shared with the tensor it came from where memory allows: do not write. */
  readonly data: MetricData;
}

type Decode = readonly [type: string, decode: (bytes: Uint8Array) => MetricData];

const decoders: Partial<Record<DType, Decode>> = {
  f32: ["float32", (bytes) => aligned(Float32Array, bytes)],
  f64: ["float64", (bytes) => aligned(Float64Array, bytes)],
  f16: ["float16", (bytes) => f16ToF32(aligned(Uint16Array, bytes))],
  bf16: ["bfloat16", (bytes) => bf16ToF32(aligned(Uint16Array, bytes))],
  i8: ["int8", (bytes) => aligned(Int8Array, bytes)],
  u8: ["uint8", (bytes) => bytes],
  i16: ["int16", (bytes) => aligned(Int16Array, bytes)],
  u16: ["uint16", (bytes) => aligned(Uint16Array, bytes)],
  i32: ["int32", (bytes) => aligned(Int32Array, bytes)],
  u32: ["uint32", (bytes) => aligned(Uint32Array, bytes)],
  i64: ["int64", (bytes) => aligned(BigInt64Array, bytes)],
  u64: ["uint64", (bytes) => aligned(BigUint64Array, bytes)],
  bool: ["bool", (bytes) => bytes],
};

/**
 * The tensor as a metric sees it. 16-bit floats come as their values in a Float32Array,
 * 64-bit integers as bigints, bool as bytes 0 and 1, strings as an array of texts.
 * Throws METRIC_DTYPE for types without such an array (complex, 8-bit floats, below 8 bits).
 */
export function toMetricTensor(tensor: Tensor): MetricTensor {
  if (tensor.dtype === "string") {
    const decoder = new TextDecoder();
    return { type: "string", dims: tensor.dims, data: tensor.utf8().map((text) => decoder.decode(text)) };
  }
  const decoder = decoders[tensor.dtype];
  if (!decoder) {
    throw new InferOptError("METRIC_DTYPE", "input", `a metric cannot read a tensor of type ${tensor.dtype}`, {
      hint: "Add a Cast to float32 before the model's output.",
      fields: { dtype: tensor.dtype },
    });
  }
  return { type: decoder[0], dims: tensor.dims, data: decoder[1](tensor.bytes()) };
}
