/** Our tensors and those of onnxruntime-node; bytes are shared where alignment allows. */
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { InferOptError } from "../../../base/errors.js";
import { aligned, type DType, Tensor } from "../../../ir/index.js";
import type { OrtModule } from "./load-ort.js";

interface ArrayClass {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ArrayBufferView;
  readonly BYTES_PER_ELEMENT: number;
}

/** Types that cross the binding. Float16 crosses as bits. */
const crossing: readonly (readonly [dtype: DType, name: OrtTensor.Type, array: ArrayClass])[] = [
  ["f32", "float32", Float32Array],
  ["f64", "float64", Float64Array],
  ["f16", "float16", Uint16Array],
  ["i8", "int8", Int8Array],
  ["u8", "uint8", Uint8Array],
  ["i16", "int16", Int16Array],
  ["u16", "uint16", Uint16Array],
  ["i32", "int32", Int32Array],
  ["u32", "uint32", Uint32Array],
  ["i64", "int64", BigInt64Array],
  ["u64", "uint64", BigUint64Array],
  ["bool", "bool", Uint8Array],
];

const byDType = new Map(crossing.map(([dtype, name, array]) => [dtype, { name, array }]));
const byName = new Map<string, DType>(crossing.map(([dtype, name]) => [name, dtype]));
byName.set("string", "string");

/** 4-bit types have names in the binding, but reading such an output ends the process. */
const named: Readonly<Record<string, DType>> = { int4: "i4", uint4: "u4" };

/** The dtype of a type as the binding's metadata spells it. */
export const dtypeOfName = (name: string): DType | null => byName.get(name) ?? named[name] ?? null;

/** Whether a tensor of that type can be an input or be read as an output. */
export const crosses = (dtype: DType | null): boolean => dtype === "string" || (dtype !== null && byDType.has(dtype));

/** Throws TENSOR_TYPE_UNSUPPORTED for types that do not cross (below 8 bits, bfloat16, 8-bit floats, complex). */
export function toOrtTensor(ort: OrtModule, name: string, tensor: Tensor): OrtTensor {
  const { dtype, dims } = tensor;
  if (dtype === "string") {
    const decoder = new TextDecoder();
    return new ort.Tensor(
      "string",
      tensor.utf8().map((text) => decoder.decode(text)),
      dims,
    );
  }
  const target = byDType.get(dtype);
  if (!target) throw typeUnsupported(name, dtype);
  // The constructor's overloads go by type; the table above pairs type and array.
  const data = aligned(target.array, tensor.bytes()) as Float32Array;
  return new ort.Tensor(target.name as "float32", data, dims);
}

export function fromOrtTensor(name: string, { type, dims, data }: Pick<OrtTensor, "type" | "dims" | "data">): Tensor {
  if (type === "string") {
    const encoder = new TextEncoder();
    return Tensor.strings(
      dims,
      (data as string[]).map((text) => encoder.encode(text)),
    );
  }
  const dtype = byName.get(type);
  if (!dtype) throw typeUnsupported(name, type);
  return Tensor.ofArray(dtype, dims, data as unknown as ArrayBufferView);
}

export function typeUnsupported(name: string, type: string): InferOptError {
  return new InferOptError(
    "TENSOR_TYPE_UNSUPPORTED",
    "runtime",
    `"${name}" is of type ${type}, which onnxruntime-node cannot pass in or out`,
    { hint: "Put a Cast to float32 or int8 at that end of the model.", fields: { name, type } },
  );
}
