import { firstNotFinite } from "../base/finite.js";
import { ascending, nearestRank } from "../base/statistics.js";
import { aligned, bitsOf, isFloat, type Tensor } from "../ir/index.js";

/** Largest value below which whole numbers are taken for counts or classes, not for pixels. */
const PIXEL_PEAK = 64;

/** A sample that reaches so many times as far as half of them do is broken: next to silence a shout reaches some ten thousand times as far. */
const WILD_FACTOR = 1e6;
/** Fewer say little of what is usual. */
const LEAST_USUAL = 4;

/** What one pass over the values of one input tells; fed sample by sample. */
export class InputWatch {
  samples = 0;
  /** Samples whose elements are all equal, and whether all elements of all samples are. */
  blank = 0;
  /** Magnitude of the last sample; 0 where that held no float, or zeros alone. */
  lastReached = 0;
  private constantBytes: string | null = null;
  private varied = false;
  private wholePixels = true;
  private largest = Number.NEGATIVE_INFINITY;
  /** Largest magnitudes of float samples that are not all zero. */
  private readonly reached: number[] = [];

  /** Looks at a sample's tensor; returns the position of its first NaN or infinity, -1 when there is none. */
  add(tensor: Tensor): number {
    this.samples++;
    this.lastReached = 0;
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

  /** Samples that reach far beyond what is usual. */
  get wild(): number {
    if (this.reached.length < LEAST_USUAL) return 0;
    const usual = nearestRank(ascending(this.reached), 0.5);
    return this.reached.filter((magnitude) => magnitude >= WILD_FACTOR * usual).length;
  }

  private addFloats(values: Float32Array | Float64Array): number {
    const odd = firstNotFinite(values);
    if (odd >= 0) return odd;
    this.lookForPixels(values);
    this.lastReached = magnitudeOf(values);
    if (this.lastReached > 0) this.reached.push(this.lastReached);
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

function magnitudeOf(values: Float32Array | Float64Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!);
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
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
