/**
 * Adds up how one output of two models differs, over elements and samples. Every sum is
 * in float64; what counts as equal is said at OutputDifference.
 */
import { f16BitsToF32 } from "../../../base/f16.js";
import { largestFinite, squareUnit } from "../../../base/square-unit.js";
import { aligned, formatShape, type Tensor } from "../../../ir/index.js";
import type { OutputDifference } from "../../port.js";
import { FaintSum } from "./faint-slices.js";
import { intervalsOf, type SampleDifference } from "./sample-differences.js";

export class DifferenceSum {
  #maxAbs = 0;
  #maxMagnitude = 0;
  #maxRelative = 0;
  /** The largest magnitude of float64 so far, and what values are divided by for sums of squares. */
  #largest = 0;
  #unit = 1;
  /** One a sample, where details are wanted. */
  #perSample: SampleDifference[] = [];
  #rows = 0;
  #agreeingRows = 0;
  #squaredDifference = 0;
  #squaredBaseline = 0;
  #cosines = 0;
  #samples = 0;
  #differing = 0;
  #nanMismatch = 0;
  #nanOnBoth = 0;
  #elements = 0;
  readonly #baseline = new Variation();
  readonly #candidate = new Variation();
  readonly #faint = new FaintSum();
  #mismatch: string | null = null;

  constructor(
    readonly output: string,
    private readonly isDetailed = false,
  ) {}

  /** Nothing more is compared after a mismatch. */
  refuse(mismatch: string): void {
    this.#mismatch ??= mismatch;
  }

  /** `where` is the sample's id. */
  add(baseline: Tensor, candidate: Tensor, where: string): void {
    if (this.#mismatch !== null) return;
    if (baseline.dtype !== candidate.dtype) {
      this.refuse(`${baseline.dtype} became ${candidate.dtype}`);
    } else if (formatShape(baseline.dims) !== formatShape(candidate.dims)) {
      this.refuse(`${formatShape(baseline.dims)} became ${formatShape(candidate.dims)} on ${where}`);
    } else if (baseline.dtype === "string") {
      this.#inDetail(() => this.#addTexts(baseline.utf8(), candidate.utf8()));
    } else {
      const unit = this.#fitUnit(baseline, candidate);
      this.#inDetail(() => {
        this.#addNumbers(elementsOf(baseline), elementsOf(candidate), unit);
        if (this.isDetailed) this.#addRows(elementsOf(baseline), elementsOf(candidate), baseline.dims.at(-1) ?? 1);
      });
      if (baseline.dtype === "f32") {
        this.#faint.add(baseline, aligned(Float32Array, baseline.bytes()), aligned(Float32Array, candidate.bytes()));
      }
      this.#baseline.add(baseline, this.#unit);
      this.#candidate.add(candidate, this.#unit);
    }
  }

  result(): OutputDifference {
    const l2 = this.#squaredDifference;
    return {
      output: this.output,
      maxAbs: this.#maxAbs,
      maxMagnitude: this.#maxMagnitude,
      maxRelative: this.#maxRelative,
      rmse: this.#elements === 0 ? 0 : Math.sqrt(l2 / this.#elements) * this.#unit,
      relativeL2: l2 === 0 ? 0 : Math.sqrt(l2 / this.#squaredBaseline),
      sqnrDb: l2 === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(this.#squaredBaseline / l2),
      cosine: this.#samples === 0 ? 1 : this.#cosines / this.#samples,
      argmaxAgreement: this.#rows === 0 ? null : this.#agreeingRows / this.#rows,
      // An infinite distance leaves nothing to draw from.
      intervals: this.isDetailed && Number.isFinite(l2) ? intervalsOf(this.#perSample, this.#unit) : null,
      differing: this.#differing,
      nanMismatch: this.#nanMismatch,
      nanOnBoth: this.#nanOnBoth,
      elements: this.#elements,
      samples: this.#samples,
      variation: { baseline: this.#baseline.relative(), candidate: this.#candidate.relative() },
      faint: this.#faint.result(),
      mismatch: this.#mismatch,
    };
  }

  /** Sums are in the unit of the largest values of all samples so far; returns that of the sample by itself. */
  #fitUnit(...tensors: readonly Tensor[]): number {
    const magnitudes = tensors.map((each) =>
      each.dtype === "f64" ? largestFinite(aligned(Float64Array, each.bytes())) : 0,
    );
    const largest = Math.max(...magnitudes);
    this.#largest = Math.max(this.#largest, largest);
    this.#convertTo(squareUnit(this.#largest));
    return squareUnit(largest);
  }

  #convertTo(unit: number): void {
    if (unit === this.#unit) return;
    const ratio = this.#unit / unit;
    this.#unit = unit;
    this.#squaredDifference = rescaled(this.#squaredDifference, ratio);
    this.#squaredBaseline = rescaled(this.#squaredBaseline, ratio);
    this.#perSample = this.#perSample.map((sample) => ({
      ...sample,
      squaredDifference: rescaled(sample.squaredDifference, ratio),
      squaredBaseline: rescaled(sample.squaredBaseline, ratio),
    }));
    this.#baseline.rescale(ratio);
    this.#candidate.rescale(ratio);
  }

  /** What `add` adds to the sums is what the sample adds. */
  #inDetail(add: () => void): void {
    const before = this.#sums();
    add();
    if (!this.isDetailed) return;
    const after = this.#sums();
    const added = (sum: keyof SampleDifference): number => after[sum] - before[sum];
    this.#perSample.push({
      ...{ elements: added("elements"), cosine: added("cosine"), rows: added("rows") },
      ...{ squaredDifference: added("squaredDifference"), squaredBaseline: added("squaredBaseline") },
      agreeingRows: added("agreeingRows"),
    });
  }

  #sums(): SampleDifference {
    return {
      ...{ elements: this.#elements, cosine: this.#cosines, rows: this.#rows, agreeingRows: this.#agreeingRows },
      ...{ squaredDifference: this.#squaredDifference, squaredBaseline: this.#squaredBaseline },
    };
  }

  /** @param unit of this sample: beside larger ones it still has its own cosine */
  #addNumbers(baseline: Elements, candidate: Elements, unit: number): void {
    const { at: old } = baseline;
    const { at: now } = candidate;
    let dot = 0;
    let oldNorm = 0;
    let newNorm = 0;
    const scale = 1 / unit;
    const scaleOfAll = 1 / this.#unit;
    for (let i = 0; i < baseline.length; i++) {
      const a = old(i);
      const b = now(i);
      const x = Number(a);
      const magnitude = Math.abs(x);
      if (magnitude > this.#maxMagnitude && Number.isFinite(magnitude)) this.#maxMagnitude = magnitude;
      // 64-bit integers are compared as they are and measured as numbers.
      if (a !== b) {
        const nans = Number(Number.isNaN(a)) + Number(Number.isNaN(b));
        if (nans > 0) {
          this.#differing += nans % 2;
          this.#nanMismatch += nans % 2;
          this.#nanOnBoth += nans >> 1;
          continue;
        }
        this.#differing++;
        const distance = Math.abs(typeof a === "bigint" ? Number((b as bigint) - a) : (b as number) - a);
        if (distance > this.#maxAbs) this.#maxAbs = distance;
        // Finite values may lie further apart than there are numbers.
        const scaled = Number.isFinite(distance) ? distance * scaleOfAll : Number(b) * scaleOfAll - x * scaleOfAll;
        this.#squaredDifference += scaled * scaled;
        const relative = distance / magnitude;
        // Over 0 it is not told, and of infinities it is none.
        if (relative > this.#maxRelative && Number.isFinite(relative)) this.#maxRelative = relative;
      }
      const y = Number(b);
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const p = x * scale;
      const q = y * scale;
      dot += p * q;
      oldNorm += p * p;
      newNorm += q * q;
    }
    this.#elements += baseline.length;
    this.#endSample(dot, oldNorm, newNorm, unit);
  }

  #addRows(baseline: Elements, candidate: Elements, width: number): void {
    if (width < 2) return;
    for (let start = 0; start + width <= baseline.length; start += width) {
      this.#rows++;
      if (largestIn(baseline, start, width) === largestIn(candidate, start, width)) this.#agreeingRows++;
    }
  }

  #addTexts(baseline: readonly Uint8Array[], candidate: readonly Uint8Array[]): void {
    const differing = baseline.filter((text, i) => Buffer.compare(text, candidate[i]!) !== 0).length;
    this.#elements += baseline.length;
    this.#differing += differing;
    this.#maxMagnitude = 1;
    if (differing > 0) this.#maxAbs = 1;
    this.#squaredDifference += differing;
    this.#endSample(baseline.length - differing, baseline.length, baseline.length);
  }

  #endSample(dot: number, oldNorm: number, newNorm: number, unit = 1): void {
    this.#squaredBaseline += rescaled(oldNorm, unit / this.#unit);
    this.#samples++;
    if (oldNorm === 0 || newNorm === 0) this.#cosines += oldNorm === newNorm ? 1 : 0;
    else this.#cosines += dot / Math.sqrt(oldNorm * newNorm);
  }
}

/** Place of the first of the largest elements, as ArgMax has it. */
function largestIn({ at }: Elements, start: number, width: number): number {
  let place = start;
  for (let i = start + 1; i < start + width; i++) if (at(i) > at(place)) place = i;
  return place - start;
}

/** A sum of squares of values that are to be `ratio` times as large; what is 0 or infinite stays so. */
const rescaled = (sum: number, ratio: number): number =>
  sum === 0 || !Number.isFinite(sum) ? sum : sum * ratio * ratio;

/** How much one model's output changes from sample to sample: distances from the first, over all norms. */
class Variation {
  #first: Elements | null = null;
  #distance = 0;
  #norm = 0;

  add(tensor: Tensor, unit: number): void {
    // The runtime may use the memory of an output again.
    this.#first ??= elementsOf(tensor, Uint8Array.from(tensor.bytes()));
    const first = this.#first;
    const now = elementsOf(tensor);
    const scale = 1 / unit;
    // Outputs that differ in size vary, whatever is in them.
    const isComparable = first.length === now.length;
    for (let i = 0; i < now.length; i++) {
      const value = Number(now.at(i)) * scale;
      const distance = value - (isComparable ? Number(first.at(i)) * scale : 0);
      if (Number.isFinite(value)) this.#norm += value * value;
      if (Number.isFinite(distance)) this.#distance += distance * distance;
    }
  }

  rescale(ratio: number): void {
    this.#distance = rescaled(this.#distance, ratio);
    this.#norm = rescaled(this.#norm, ratio);
  }

  relative(): number {
    return this.#norm === 0 ? 0 : Math.sqrt(this.#distance / this.#norm);
  }
}

interface Elements {
  readonly length: number;
  at(index: number): number | bigint;
}

/** The elements of any type that crosses the binding, but string. */
function elementsOf(tensor: Tensor, bytes = tensor.bytes()): Elements {
  const of = <T extends ArrayLike<number> | ArrayLike<bigint>>(array: T): Elements => ({
    length: array.length,
    at: (i) => array[i]!,
  });
  switch (tensor.dtype) {
    case "f32":
      return of(aligned(Float32Array, bytes));
    case "f64":
      return of(aligned(Float64Array, bytes));
    case "f16": {
      const bits = aligned(Uint16Array, bytes);
      return { length: bits.length, at: (i) => f16BitsToF32(bits[i]!) };
    }
    case "i8":
      return of(aligned(Int8Array, bytes));
    case "i16":
      return of(aligned(Int16Array, bytes));
    case "u16":
      return of(aligned(Uint16Array, bytes));
    case "i32":
      return of(aligned(Int32Array, bytes));
    case "u32":
      return of(aligned(Uint32Array, bytes));
    case "i64":
      return of(aligned(BigInt64Array, bytes));
    case "u64":
      return of(aligned(BigUint64Array, bytes));
    default:
      return of(bytes);
  }
}
