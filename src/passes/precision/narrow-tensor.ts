/**
 * Float32 tensors as float16 or bfloat16, converted when and as far as their bytes are
 * asked for: a model of many gigabytes is narrowed while it is written.
 */
import { invariant } from "../../base/errors.js";
import { f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import { aligned, Tensor } from "../../ir/index.js";

export type HalfType = "f16" | "bf16";

const LARGEST_F16 = 65504;
/** Half of the smallest float16 above zero: what is less rounds to zero. */
const FLUSHED_F16 = 2 ** -25;

export interface NarrowingLoss {
  /** A finite element is beyond the type's range. */
  readonly overflows: boolean;
  /** Elements that are not zero and become zero. */
  readonly flushed: number;
}

/** What an f32 tensor loses when it is narrowed; reads it once, piece by piece. */
export function narrowingLoss(tensor: Tensor, target: HalfType): NarrowingLoss {
  let overflows = false;
  let flushed = 0;
  // Bfloat16 has the range of float32.
  if (target === "bf16") return { overflows, flushed };
  for (const values of f32Chunks(tensor)) {
    for (let i = 0; i < values.length; i++) {
      const magnitude = Math.abs(values[i]!);
      if (magnitude > LARGEST_F16) overflows ||= magnitude !== Number.POSITIVE_INFINITY;
      else if (magnitude <= FLUSHED_F16 && magnitude !== 0) flushed++;
    }
  }
  return { overflows, flushed };
}

/** The f32 tensor in the narrower type; round half to even. Bytes are converted each time they are asked for. */
export function narrowTensor(tensor: Tensor, target: HalfType): Tensor {
  invariant(tensor.dtype === "f32", `expected f32, got ${tensor.dtype}`);
  const toBits = target === "f16" ? f32ToF16Bits : f32ToBf16Bits;
  const byteLength = tensor.elementCount * 2;
  function* chunks(): Generator<Uint8Array> {
    for (const values of f32Chunks(tensor)) {
      const bits = new Uint16Array(values.length);
      for (let i = 0; i < values.length; i++) bits[i] = toBits(values[i]!);
      yield new Uint8Array(bits.buffer);
    }
  }
  const read = (): Uint8Array => {
    const bytes = new Uint8Array(byteLength);
    let at = 0;
    for (const chunk of chunks()) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  };
  return Tensor.fromSource(target, tensor.dims, { byteLength, read, chunks }, tensor.extras);
}

const PIECE_BYTES = 1 << 22;

/** The elements in order. A source may cut its bytes anywhere: what is left of an element waits for the next chunk. */
export function* f32Chunks(tensor: Tensor): Generator<Float32Array> {
  let rest = new Uint8Array(0);
  for (const chunk of tensor.byteSource.chunks()) {
    let bytes = chunk;
    if (rest.length > 0) {
      bytes = new Uint8Array(rest.length + chunk.length);
      bytes.set(rest);
      bytes.set(chunk, rest.length);
    }
    const whole = bytes.length - (bytes.length % 4);
    rest = bytes.slice(whole);
    for (let at = 0; at < whole; at += PIECE_BYTES) {
      yield aligned(Float32Array, bytes.subarray(at, Math.min(at + PIECE_BYTES, whole)));
    }
  }
}
