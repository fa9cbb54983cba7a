/** Element types of ONNX tensors, by the short names used in text and reports. */
export type DType =
  | "f32"
  | "u8"
  | "i8"
  | "u16"
  | "i16"
  | "i32"
  | "i64"
  | "string"
  | "bool"
  | "f16"
  | "f64"
  | "u32"
  | "u64"
  | "c64"
  | "c128"
  | "bf16"
  | "f8e4m3fn"
  | "f8e4m3fnuz"
  | "f8e5m2"
  | "f8e5m2fnuz"
  | "u4"
  | "i4"
  | "f4e2m1"
  | "f8e8m0"
  | "u2"
  | "i2";

/** [TensorProto.DataType code, bits per element]; strings have no fixed size. */
const table: Record<DType, readonly [code: number, bits: number]> = {
  f32: [1, 32],
  u8: [2, 8],
  i8: [3, 8],
  u16: [4, 16],
  i16: [5, 16],
  i32: [6, 32],
  i64: [7, 64],
  string: [8, 0],
  bool: [9, 8],
  f16: [10, 16],
  f64: [11, 64],
  u32: [12, 32],
  u64: [13, 64],
  c64: [14, 64],
  c128: [15, 128],
  bf16: [16, 16],
  f8e4m3fn: [17, 8],
  f8e4m3fnuz: [18, 8],
  f8e5m2: [19, 8],
  f8e5m2fnuz: [20, 8],
  u4: [21, 4],
  i4: [22, 4],
  f4e2m1: [23, 4],
  f8e8m0: [24, 8],
  u2: [25, 2],
  i2: [26, 2],
};

const byCode = new Map(Object.entries(table).map(([dtype, [code]]) => [code, dtype as DType]));

export const dtypes = Object.keys(table) as readonly DType[];
export const dtypeCode = (dtype: DType): number => table[dtype][0];
/** The dtype of a TensorProto.DataType code, null when this version of ONNX has none. */
export const dtypeOfCode = (code: number): DType | null => byCode.get(code) ?? null;
export const bitsOf = (dtype: DType): number => table[dtype][1];

/** Bytes that `count` elements take when packed as ONNX packs them (sub-byte types share bytes). */
export const packedBytes = (dtype: DType, count: number): number => Math.ceil((count * table[dtype][1]) / 8);

const floats: ReadonlySet<DType> = new Set<DType>([
  "f32",
  "f16",
  "f64",
  "bf16",
  "f8e4m3fn",
  "f8e4m3fnuz",
  "f8e5m2",
  "f8e5m2fnuz",
  "f4e2m1",
  "f8e8m0",
]);
export const isFloat = (dtype: DType | null | undefined): boolean => dtype != null && floats.has(dtype);
