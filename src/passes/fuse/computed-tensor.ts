/**
 * New weights from old ones: computed in double precision, rounded once to the type of
 * the old. A large weight is computed anew, piece by piece, each time somebody reads it,
 * so that folding a factor into gigabytes of weights holds none of them in memory.
 */
import { f32ToF16 } from "../../base/f16.js";
import { bitsOf, type DType, elementCount, Tensor } from "../../ir/index.js";
import type { ChannelOrder } from "./channel-order.js";
import { floatsOf } from "./linear.js";

const LARGE_BYTES = 1 << 20;
const PIECE_BYTES = 1 << 20;

/** A tensor of f32, f16 or f64; null when an element is not finite in it. */
export function tensorLike(dtype: DType, dims: readonly number[], data: Float32Array | Float64Array): Tensor | null {
  const bytes = bytesLike(dtype, data, null);
  return bytes && Tensor.fromBytes(dtype, dims, bytes);
}

/** One number everywhere, which is finite in that type. */
export const filledTensor = (dtype: DType, dims: readonly number[], value: number): Tensor =>
  tensorLike(dtype, dims, new Float32Array(elementCount(dims)).fill(value))!;

/** The tensor with its elements times the factors of their channels; null when one leaves the range of its type. */
export function scaledTensor(tensor: Tensor, scale: Float64Array, order: ChannelOrder): Tensor | null {
  const { dtype, dims, byteLength } = tensor;
  if (byteLength < LARGE_BYTES) {
    const bytes = bytesLike(dtype, floatsOf(tensor)!, { scale, order, first: 0 });
    return bytes && Tensor.fromBytes(dtype, dims, bytes);
  }
  const source = tensor.byteSource;
  const elementBytes = bitsOf(dtype) / 8;
  function* pieces(): Generator<Uint8Array | null> {
    let at = 0;
    // Garbage of the size of the weights would stay with the process: pieces take turns in one place.
    const room = new Float32Array(dtype === "f32" ? Math.min(PIECE_BYTES, byteLength) / elementBytes : 0);
    for (const chunk of source.chunks()) {
      for (let begin = 0; begin < chunk.byteLength; begin += PIECE_BYTES) {
        const part = chunk.subarray(begin, begin + PIECE_BYTES);
        const count = part.byteLength / elementBytes;
        const into = dtype === "f32" ? room.subarray(0, count) : undefined;
        yield bytesLike(dtype, floatsOf(Tensor.fromBytes(dtype, [count], part))!, { scale, order, first: at }, into);
        at += count;
      }
    }
  }
  for (const piece of pieces()) if (!piece) return null;
  const chunks = (): Iterable<Uint8Array> => pieces() as Iterable<Uint8Array>;
  const read = (): Uint8Array => {
    const bytes = new Uint8Array(byteLength);
    let at = 0;
    for (const chunk of chunks()) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  };
  return Tensor.fromSource(dtype, dims, { byteLength, chunks, read });
}

type Floats = Float32Array | Float64Array;

/** One factor per channel, of the elements from number `first` on. */
interface Factors {
  readonly scale: Float64Array;
  readonly order: ChannelOrder;
  readonly first: number;
}

/** Little-endian elements of `data`, times their factors; null when one is not finite in the type. */
function bytesLike(dtype: DType, data: Floats, factors: Factors | null, into?: Float32Array): Uint8Array | null {
  const { length } = data;
  const result: Floats = into ?? (dtype === "f64" ? new Float64Array(length) : new Float32Array(length));
  if (!factors) result.set(data);
  if ((factors ? multiply(result, data, factors) : zeroTimes(result)) !== 0) return null;
  if (dtype === "f32" || dtype === "f64") return bytesOf(result);
  const bits = f32ToF16(result as Float32Array);
  return bits.some((word) => (word & 0x7c00) === 0x7c00) ? null : bytesOf(bits);
}

/** Zero, unless an element of the result is not finite. Plain loops: these run over all weights of a model. */
function multiply(result: Floats, data: Floats, { scale, order, first }: Factors): number {
  const { length } = data;
  const { run, count, block } = order;
  let zero = 0;
  for (let i = 0; i < length; ) {
    const at = first + i;
    const base = Math.floor(at / block) * count;
    let end = i + run - (at % run);
    for (let channel = Math.floor(at / run) % count; channel < count && i < length; channel++) {
      const factor = scale[base + channel]!;
      for (const stop = Math.min(end, length); i < stop; i++) {
        result[i] = data[i]! * factor;
        zero += result[i]! * 0;
      }
      end += run;
    }
  }
  return zero;
}

/** Zero times anything finite is zero. */
function zeroTimes(elements: Floats): number {
  let zero = 0;
  for (let i = 0; i < elements.length; i++) zero += elements[i]! * 0;
  return zero;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
