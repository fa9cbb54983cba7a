import { firstNotFinite } from "../base/finite.js";
import { aligned, bitsOf, isFloat, type Tensor } from "../ir/index.js";

/** Largest value below which whole numbers are taken for counts or classes, not for pixels. */
const PIXEL_PEAK = 64;

/** What one pass over the values of one input tells; fed sample by sample. */
export class InputWatch {
  samples = 0;
  /** Samples whose elements are all equal, and whether all elements of all samples are. */
  blank = 0;
  private constantBytes: string | null = null;
  private varied = false;
  private wholePixels = true;
  private largest = Number.NEGATIVE_INFINITY;

  /** Looks at a sample's tensor; returns the position of its first NaN or infinity, -1 when there is none. */
  add(tensor: Tensor): number {
    this.samples++;
    if (tensor.dtype === "string" || tensor.elementCount === 0) {
      this.varied = true;
      return -1;
    }
    const first = uniformElement(tensor);
    if (first === null) this.varied = true;
    else {
      if (tensor.elementCount > 1) this.blank++;
      if (this.constantBytes !== null && this.constantBytes !== first) this.varied = true;
      this.constantBytes = first;
    }
    const values = floatsOf(tensor);
    return values ? this.addFloats(values) : -1;
  }

  /** One value in all elements of all samples. */
  get constant(): boolean {
    return this.samples > 0 && !this.varied;
  }

  /** Floats that are whole numbers of 0..255 and reach well beyond classes or counts. */
  get looksLikePixels(): boolean {
    return this.wholePixels && this.largest >= PIXEL_PEAK;
  }

  private addFloats(values: Float32Array | Float64Array): number {
    const odd = firstNotFinite(values);
    if (odd < 0) this.lookForPixels(values);
    return odd;
  }

  /** Until there is one that is none. */
  private lookForPixels(values: Float32Array | Float64Array): void {
    for (let i = 0; i < values.length && this.wholePixels; i++) {
      const value = values[i]!;
      if (value > this.largest) this.largest = value;
      if (value < 0 || value > 255 || !Number.isInteger(value)) this.wholePixels = false;
    }
  }
}

const floatsOf = (tensor: Tensor): Float32Array | Float64Array | null =>
  tensor.dtype === "f64" ? aligned(Float64Array, tensor.bytes()) : tensor.toF32();

/**
 * The bytes of the first element when all others are the same, else null; 0 and -0 are the same. Types that share bytes: whole
 * bytes are compared.
 */
function uniformElement(tensor: Tensor): string | null {
  const bytes = tensor.bytes();
  const width = Math.max(1, bitsOf(tensor.dtype) / 8);
  const first = bytes.slice(0, width);
  if (isFloat(tensor.dtype) && width > 1 && isZero(bytes, 0, width)) {
    for (let i = width; i < bytes.length; i += width) if (!isZero(bytes, i, width)) return null;
    first[width - 1] = 0;
  } else {
    for (let i = width; i < bytes.length; i++) if (bytes[i] !== bytes[i - width]) return null;
  }
  return Buffer.from(first).toString("hex");
}

/** Whether no bit of a float is set, its sign aside. */
function isZero(bytes: Uint8Array, at: number, width: number): boolean {
  for (let i = at; i < at + width - 1; i++) if (bytes[i] !== 0) return false;
  return (bytes[at + width - 1]! & 0x7f) === 0;
}
