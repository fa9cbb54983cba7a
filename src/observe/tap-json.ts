/**
 * Taps as JSON, exact both ways and short: the histogram is a series of LEB128
 * numbers in base64, where a run of empty bins is 0 and its length.
 */
import { InferOptError } from "../base/errors.js";
import {
  binsPerSide,
  exponentAbove,
  finiteCount,
  meanExtremes,
  minExponent,
  type TapStatistics,
} from "./statistics.js";

export interface TapJson {
  readonly name: string;
  readonly samples: number;
  readonly count: number;
  /** null while no finite element was seen. */
  readonly min: number | null;
  readonly max: number | null;
  readonly nanCount: number;
  readonly infCount: number;
  /** Digits. */
  readonly minSum: string;
  readonly maxSum: string;
  readonly summed: number;
  readonly zeroCount: number;
  readonly exponent: number;
  readonly histogram: string;
}

export function tapToJson(tap: TapStatistics): TapJson {
  const { name, samples, count, nanCount, infCount, minSum, maxSum, summed, zeroCount, exponent } = tap;
  const empty = tap.min > tap.max;
  return {
    name,
    samples,
    count,
    min: empty ? null : tap.min,
    max: empty ? null : tap.max,
    nanCount,
    infCount,
    minSum: String(minSum),
    maxSum: String(maxSum),
    summed,
    zeroCount,
    exponent,
    histogram: packCounts(tap.counts),
  };
}

/** Throws TAP_DAMAGED when the value is no tap or contradicts itself. */
export function tapFromJson(json: unknown): TapStatistics {
  const given = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  const name = given["name"];
  if (typeof name !== "string") throw damaged("?", "it has no name");
  const whole = (field: keyof TapJson, least = 0): number => {
    const value = given[field];
    if (!Number.isSafeInteger(value) || (value as number) < least) {
      throw unfit(name, field, value, "a whole number");
    }
    return value as number;
  };
  const extreme = (field: "min" | "max", none: number): number => {
    const value = given[field];
    if (value === null) return none;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw unfit(name, field, value, "a finite number");
    }
    return value;
  };
  const digits = (field: "minSum" | "maxSum"): bigint => {
    const value = given[field];
    if (typeof value !== "string" || !/^-?\d{1,400}$/.test(value)) throw unfit(name, field, value, "digits in a text");
    return BigInt(value);
  };
  const tap: TapStatistics = {
    name,
    samples: whole("samples"),
    count: whole("count"),
    min: extreme("min", Number.POSITIVE_INFINITY),
    max: extreme("max", Number.NEGATIVE_INFINITY),
    nanCount: whole("nanCount"),
    infCount: whole("infCount"),
    minSum: digits("minSum"),
    maxSum: digits("maxSum"),
    summed: whole("summed"),
    zeroCount: whole("zeroCount"),
    exponent: whole("exponent", minExponent),
    counts: unpackCounts(name, given["histogram"]),
  };
  const inBins = tap.counts.reduce((sum, count) => sum + count, 0);
  if (inBins !== finiteCount(tap)) {
    throw damaged(name, `its histogram holds ${inBins} values where ${finiteCount(tap)} were seen`);
  }
  const extent = tap.min > tap.max ? minExponent : exponentAbove(Math.max(-tap.min, tap.max));
  if (extent !== tap.exponent || tap.min > tap.max !== (inBins === 0)) {
    throw damaged(name, "its histogram does not reach as far as its extremes");
  }
  if (tap.summed > tap.samples || (tap.summed === 0) !== (inBins === 0)) {
    throw damaged(name, `its extremes are those of ${tap.summed} of ${tap.samples} tensors`);
  }
  const { min, max } = meanExtremes(tap);
  if (tap.summed > 0 && !(tap.min <= min && min <= max && max <= tap.max)) {
    throw damaged(name, "the means of its extremes lie outside them");
  }
  return tap;
}

const unfit = (name: string, field: string, value: unknown, wanted: string): InferOptError =>
  damaged(name, value === undefined ? `it has no "${field}"` : `"${field}" is ${JSON.stringify(value)}, not ${wanted}`);

function damaged(name: string, why: string): InferOptError {
  return new InferOptError("TAP_DAMAGED", "input", `the statistics of tensor "${name}" are damaged: ${why}`, {
    hint: "Calibrate again; statistics are not meant to be edited.",
    fields: { tensor: name },
  });
}

function packCounts(counts: Float64Array): string {
  const bytes: number[] = [];
  const put = (value: number): void => {
    let rest = value;
    // Counts may exceed 32 bits, where shifts would cut them.
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  };
  for (let i = 0; i < counts.length; ) {
    put(counts[i]!);
    let next = i + 1;
    if (counts[i] === 0) {
      while (next < counts.length && counts[next] === 0) next++;
      put(next - i);
    }
    i = next;
  }
  return Buffer.from(bytes).toString("base64");
}

function unpackCounts(name: string, packed: unknown): Float64Array {
  if (typeof packed !== "string") throw damaged(name, '"histogram" is not a text');
  const bytes = Buffer.from(packed, "base64");
  const counts = new Float64Array(2 * binsPerSide);
  let at = 0;
  const take = (): number => {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw damaged(name, "its histogram is cut off");
      value += (byte & 127) * unit;
      if (byte < 128) return value;
      unit *= 128;
    }
  };
  let bin = 0;
  while (at < bytes.length && bin < counts.length) {
    const value = take();
    counts[bin] = value;
    bin += value === 0 ? take() : 1;
  }
  if (at !== bytes.length || bin !== counts.length) throw damaged(name, "its histogram has the wrong length");
  return counts;
}
