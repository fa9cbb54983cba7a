/** Tensors from values that are written down, or from a seed. */
import { f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import type { Random } from "../../base/random.js";
import { type DType, packedBytes } from "../dtype.js";
import { elementCount } from "../shape.js";
import { Tensor } from "../tensor.js";
import type { Token, Tokens } from "./tokens.js";

const reals: ReadonlySet<DType> = new Set<DType>(["f32", "f64", "f16", "bf16"]);
const integers: ReadonlySet<DType> = new Set<DType>(["i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8", "bool"]);

/** Throws GRAPH_TEXT where a value is not of the type; types that have no notation for values are refused. */
export function tensorOfTokens(
  tokens: Tokens,
  dtype: DType,
  dims: readonly number[],
  values: readonly Token[],
  at: number,
): Tensor {
  const count = elementCount(dims);
  // One value stands for all of them.
  const value = (i: number): Token => values[values.length === 1 ? 0 : i]!;
  if (values.length !== 1 && values.length !== count) {
    throw tokens.error(at, `${count} values are needed, ${values.length} are given`);
  }
  if (dtype === "string") {
    const texts = Array.from({ length: count }, (_, i) => new TextEncoder().encode(tokens.quoted(value(i))));
    return Tensor.strings(dims, texts);
  }
  if (reals.has(dtype)) return tensorOf(dtype, dims, (i) => tokens.float(value(i)));
  if (integers.has(dtype)) return tensorOf(dtype, dims, (i) => tokens.integer(value(i)));
  throw tokens.error(at, `values of ${dtype} cannot be written in text`);
}

/** Normal reals, small integers; zeros where the type has neither. */
export function seededTensor(dtype: DType, dims: readonly number[], random: Random): Tensor {
  if (dtype === "string") {
    const texts = Array.from({ length: elementCount(dims) }, () => new TextEncoder().encode(String(random.below(4))));
    return Tensor.strings(dims, texts);
  }
  if (reals.has(dtype)) return tensorOf(dtype, dims, () => random.normal());
  if (integers.has(dtype)) return tensorOf(dtype, dims, () => random.below(dtype === "bool" ? 2 : 4));
  return Tensor.fromBytes(dtype, dims, new Uint8Array(packedBytes(dtype, elementCount(dims))));
}

function tensorOf(dtype: DType, dims: readonly number[], element: (index: number) => number | bigint): Tensor {
  const array = arrayOf(dtype, elementCount(dims));
  for (let i = 0; i < array.length; i++) {
    const value = element(i);
    if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = BigInt(value);
    else if (dtype === "f16") array[i] = f32ToF16Bits(Number(value));
    else if (dtype === "bf16") array[i] = f32ToBf16Bits(Number(value));
    else array[i] = Number(value);
  }
  return Tensor.ofArray(dtype, dims, array);
}

function arrayOf(dtype: DType, count: number) {
  switch (dtype) {
    case "f32":
      return new Float32Array(count);
    case "f64":
      return new Float64Array(count);
    case "i64":
      return new BigInt64Array(count);
    case "u64":
      return new BigUint64Array(count);
    case "i32":
      return new Int32Array(count);
    case "u32":
      return new Uint32Array(count);
    case "i16":
      return new Int16Array(count);
    case "i8":
      return new Int8Array(count);
    case "u8":
    case "bool":
      return new Uint8Array(count);
    default:
      return new Uint16Array(count); // u16, and the bits of f16 and bf16
  }
}
