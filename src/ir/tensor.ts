import { InferOptError, invariant } from "../base/errors.js";
import { bf16ToF32, f16ToF32 } from "../base/f16.js";
import type { FilePlace } from "../base/file-state.js";
import { type DType, packedBytes } from "./dtype.js";
import { elementCount } from "./shape.js";

/** Where a tensor's bytes lie; the shape of onnx's ByteSource, so that this room need not import it. */
export interface TensorBytes {
  readonly byteLength: number;
  read(): Uint8Array;
  /** One after the other, of a size that suits the source; no larger than asked for where it reads a file. */
  chunks(chunkBytes?: number): Iterable<Uint8Array>;
  readonly file?: FilePlace;
}

/** Things on the wire that only a writer needs: doc string, metadata, unknown fields. Kept as they came. */
export type WireExtras = object;

/**
 * A constant: dtype, dims and little-endian bytes as ONNX packs them. Immutable and
 * shared; new weights are new tensors. Bytes may lie in a file and are then read
 * each time they are asked for: hold the result of `bytes()`, not many of them.
 */
export class Tensor {
  private constructor(
    readonly dtype: DType,
    readonly dims: readonly number[],
    private readonly source: TensorBytes | null,
    private readonly texts: readonly Uint8Array[] | null,
    readonly extras: WireExtras | null,
  ) {}

  static fromBytes(dtype: DType, dims: readonly number[], bytes: Uint8Array): Tensor {
    return Tensor.fromSource(dtype, dims, { byteLength: bytes.byteLength, read: () => bytes, chunks: () => [bytes] });
  }

  /** Throws when the source does not hold what dims and dtype ask for. */
  static fromSource(
    dtype: DType,
    dims: readonly number[],
    source: TensorBytes,
    extras: WireExtras | null = null,
  ): Tensor {
    const expected = packedBytes(dtype, elementCount(dims));
    if (dtype === "string" || source.byteLength !== expected) {
      throw new InferOptError(
        "TENSOR_SIZE",
        "input",
        `a ${dtype} tensor of shape [${dims.join(",")}] needs ${expected} bytes, not ${source.byteLength}`,
        { hint: "The model is damaged: export it again." },
      );
    }
    return new Tensor(dtype, dims, source, null, extras);
  }

  static strings(dims: readonly number[], texts: readonly Uint8Array[], extras: WireExtras | null = null): Tensor {
    invariant(texts.length === elementCount(dims), "a string tensor has one text per element");
    return new Tensor("string", dims, null, texts, extras);
  }

  static f32(dims: readonly number[], values: ArrayLike<number>): Tensor {
    return Tensor.ofArray("f32", dims, Float32Array.from(values));
  }

  static i64(dims: readonly number[], values: readonly (number | bigint)[]): Tensor {
    return Tensor.ofArray("i64", dims, BigInt64Array.from(values, BigInt));
  }

  /** From a typed array whose element size is the dtype's. The array is not copied: do not write it later. */
  static ofArray(dtype: DType, dims: readonly number[], array: ArrayBufferView): Tensor {
    return Tensor.fromBytes(dtype, dims, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }

  static scalar(dtype: "f32" | "i64", value: number): Tensor {
    return dtype === "f32" ? Tensor.f32([], [value]) : Tensor.i64([], [value]);
  }

  get elementCount(): number {
    return elementCount(this.dims);
  }

  get byteLength(): number {
    return this.source?.byteLength ?? this.texts!.reduce((sum, text) => sum + text.length, 0);
  }

  /** The range of a file that holds the bytes, or null when they are in memory. */
  get file(): FilePlace | null {
    return this.source?.file ?? null;
  }

  /** Packed little-endian bytes; a view that others share: do not write. */
  bytes(): Uint8Array {
    invariant(this.source, "a string tensor has no bytes");
    return this.source.read();
  }

  get byteSource(): TensorBytes {
    invariant(this.source, "a string tensor has no bytes");
    return this.source;
  }

  /** The elements of a string tensor, as UTF-8. */
  utf8(): readonly Uint8Array[] {
    invariant(this.texts, `a ${this.dtype} tensor has no texts`);
    return this.texts;
  }

  /** Elements of an f32 tensor; a shared view where memory allows: do not write. */
  f32(): Float32Array {
    invariant(this.dtype === "f32", `expected f32, got ${this.dtype}`);
    return aligned(Float32Array, this.bytes());
  }

  /** Elements of any real floating type up to 64 bits as float32, or null for other types. */
  toF32(): Float32Array | null {
    switch (this.dtype) {
      case "f32":
        return this.f32();
      case "f64":
        return Float32Array.from(aligned(Float64Array, this.bytes()));
      case "f16":
        return f16ToF32(aligned(Uint16Array, this.bytes()));
      case "bf16":
        return bf16ToF32(aligned(Uint16Array, this.bytes()));
      default:
        return null;
    }
  }

  /** Elements of an integer or bool tensor of at least 8 bits, exact; null for other types. */
  bigints(): bigint[] | null {
    const bytes = this.source?.read();
    if (!bytes) return null;
    switch (this.dtype) {
      case "i64":
        return [...aligned(BigInt64Array, bytes)];
      case "u64":
        return [...aligned(BigUint64Array, bytes)];
      case "i32":
        return Array.from(aligned(Int32Array, bytes), BigInt);
      case "u32":
        return Array.from(aligned(Uint32Array, bytes), BigInt);
      case "i16":
        return Array.from(aligned(Int16Array, bytes), BigInt);
      case "u16":
        return Array.from(aligned(Uint16Array, bytes), BigInt);
      case "i8":
        return Array.from(aligned(Int8Array, bytes), BigInt);
      case "u8":
      case "bool":
        return Array.from(bytes, BigInt);
      default:
        return null;
    }
  }

  /** Elements of an integer tensor as numbers; null for other types or when one exceeds 2^53. */
  integers(): number[] | null {
    const values = this.bigints();
    if (!values) return null;
    const numbers = values.map(Number);
    return numbers.every(Number.isSafeInteger) ? numbers : null;
  }

  /** The same bytes under another shape of the same count. */
  withDims(dims: readonly number[]): Tensor {
    invariant(elementCount(dims) === this.elementCount, "withDims keeps the number of elements");
    return new Tensor(this.dtype, dims, this.source, this.texts, this.extras);
  }
}

interface ViewOf<T> {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** A typed view on bytes; copies when they do not lie at a multiple of the element size. */
export function aligned<T>(type: ViewOf<T>, bytes: Uint8Array): T {
  // Not bytes.slice(): that of a Buffer does not copy.
  const from = bytes.byteOffset % type.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  return new type(from.buffer, from.byteOffset, from.byteLength / type.BYTES_PER_ELEMENT);
}
