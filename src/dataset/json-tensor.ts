/**
 * Nested JSON arrays as a tensor of a given dtype: numbers, booleans for bool, texts for
 * string tensors. Integers may be written as texts, which JSON numbers beyond 2^53 need.
 */
import { f32ToBf16Bits, f32ToF16 } from "../base/f16.js";
import { type DType, Tensor } from "../ir/index.js";

/** What is wrong with a JSON value, and where in it: `[0][3]`. */
export class JsonFault {
  constructor(
    readonly where: string,
    readonly what: string,
  ) {}
}

type Leaf = number | boolean | string;

/** More than any operator takes. What is read nests as deep, and the stack ends somewhere. */
const MOST_DIMS = 64;

/** The tensor, of the nesting's shape, or what stands against it. A bare value is a tensor of rank 0. */
export function tensorFromJson(value: unknown, dtype: DType): Tensor | JsonFault {
  const dims: number[] = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) dims.push(inner.length);
  if (dims.length > MOST_DIMS)
    return new JsonFault("", `has arrays nested ${dims.length} deep: no tensor has so many axes`);
  const leaves: Leaf[] = [];
  return collect(value, dims, 0, "", leaves) ?? build(dtype, dims, leaves);
}

/** The dtype that a value asks for by itself: bool, string, i64 when all numbers are whole, else f32. */
export function guessDtype(value: unknown): DType {
  const leaves = [value].flat((MOST_DIMS + 1) as 1) as unknown[];
  if (typeof leaves[0] === "boolean") return "bool";
  if (typeof leaves[0] === "string") return "string";
  return leaves.every(Number.isInteger) ? "i64" : "f32";
}

function collect(
  value: unknown,
  dims: readonly number[],
  depth: number,
  where: string,
  leaves: Leaf[],
): JsonFault | null {
  if (depth === dims.length) {
    if (Array.isArray(value)) return new JsonFault(where, "is an array where its first sibling is a value");
    if (typeof value !== "number" && typeof value !== "boolean" && typeof value !== "string") {
      return new JsonFault(where, `is ${value === null ? "null" : "an object"}`);
    }
    leaves.push(value);
    return null;
  }
  if (!Array.isArray(value)) return new JsonFault(where, "is no array although its first sibling is");
  if (value.length !== dims[depth]) {
    return new JsonFault(where, `has ${value.length} elements where its first sibling has ${dims[depth]}`);
  }
  for (let i = 0; i < value.length; i++) {
    const fault = collect(value[i], dims, depth + 1, `${where}[${i}]`, leaves);
    if (fault) return fault;
  }
  return null;
}

function build(dtype: DType, dims: readonly number[], leaves: readonly Leaf[]): Tensor | JsonFault {
  const fault = (index: number, what: string) => new JsonFault(pathOf(dims, index), what);
  if (dtype === "string") {
    const odd = leaves.findIndex((leaf) => typeof leaf !== "string");
    if (odd >= 0) return fault(odd, `is ${leaves[odd]}, not a text`);
    return Tensor.strings(
      dims,
      leaves.map((leaf) => new TextEncoder().encode(leaf as string)),
    );
  }
  if (dtype === "bool") {
    const odd = leaves.findIndex((leaf) => typeof leaf !== "boolean" && leaf !== 0 && leaf !== 1);
    if (odd >= 0) return fault(odd, `is ${JSON.stringify(leaves[odd])}, not true or false`);
    return Tensor.ofArray("bool", dims, Uint8Array.from(leaves, Number));
  }
  const range = integerRange[dtype];
  return range ? buildIntegers(dtype, dims, leaves, range, fault) : buildFloats(dtype, dims, leaves, fault);
}

type FaultAt = (index: number, what: string) => JsonFault;

function buildFloats(
  dtype: DType,
  dims: readonly number[],
  leaves: readonly Leaf[],
  fault: FaultAt,
): Tensor | JsonFault {
  const odd = leaves.findIndex((leaf) => typeof leaf !== "number");
  if (odd >= 0) return fault(odd, `is ${JSON.stringify(leaves[odd])}, not a number`);
  const numbers = leaves as readonly number[];
  switch (dtype) {
    case "f32":
      return Tensor.f32(dims, numbers);
    case "f64":
      return Tensor.ofArray("f64", dims, Float64Array.from(numbers));
    case "f16":
      return Tensor.ofArray("f16", dims, f32ToF16(Float32Array.from(numbers)));
    case "bf16":
      return Tensor.ofArray("bf16", dims, Uint16Array.from(numbers, f32ToBf16Bits));
    default:
      return new JsonFault("", `has type ${dtype}, which JSON cannot hold`);
  }
}

const integerRange: Partial<Record<DType, readonly [least: bigint, most: bigint]>> = {
  i8: [-128n, 127n],
  u8: [0n, 255n],
  i16: [-(2n ** 15n), 2n ** 15n - 1n],
  u16: [0n, 2n ** 16n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u32: [0n, 2n ** 32n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  u64: [0n, 2n ** 64n - 1n],
};

const smallArrays: Partial<Record<DType, { from(values: readonly number[]): ArrayBufferView }>> = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
};

function buildIntegers(
  dtype: DType,
  dims: readonly number[],
  leaves: readonly Leaf[],
  [least, most]: readonly [bigint, bigint],
  fault: FaultAt,
): Tensor | JsonFault {
  const values: bigint[] = [];
  for (const [index, leaf] of leaves.entries()) {
    if (typeof leaf === "number" && Number.isInteger(leaf) && !Number.isSafeInteger(leaf)) {
      return fault(index, `is ${leaf}, beyond what a JSON number holds exactly: write it as a text`);
    }
    const isInteger = typeof leaf === "number" ? Number.isInteger(leaf) : /^-?\d+$/.test(String(leaf));
    if (!isInteger) return fault(index, `is ${JSON.stringify(leaf)}, not an integer`);
    const value = BigInt(leaf);
    if (value < least || value > most) return fault(index, `is ${leaf}, outside the range of ${dtype}`);
    values.push(value);
  }
  const small = smallArrays[dtype];
  if (small) return Tensor.ofArray(dtype, dims, small.from(values.map(Number)));
  return Tensor.ofArray(dtype, dims, dtype === "u64" ? BigUint64Array.from(values) : BigInt64Array.from(values));
}

/** The indices of the element at a position in C order. */
function pathOf(dims: readonly number[], index: number): string {
  let path = "";
  let rest = index;
  for (const size of [...dims].reverse()) {
    path = `[${rest % size}]${path}`;
    rest = Math.floor(rest / size);
  }
  return path;
}
