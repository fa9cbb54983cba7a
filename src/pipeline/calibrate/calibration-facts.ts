/** What calibration saw of each tensor, and the ranges that each method takes from it: small enough for a result. */
import type { Value } from "../../ir/index.js";
import {
  binsPerSide,
  binWidth,
  chooseRange,
  finiteCount,
  type RangeMethod,
  type TapRange,
  type TapStatistics,
} from "../../observe/index.js";
import { effectiveTap } from "../../quantization/effective-range.js";

export interface CalibrationFacts {
  /** Those that lose the most by their range, in execution order. */
  readonly tensors: readonly CalibratedTensor[];
  /** All that are, or would be, quantized with a range. */
  readonly of: number;
}

export interface CalibratedTensor {
  readonly tensor: string;
  /** Finite elements seen, and the least and the largest of them. */
  readonly elements: number;
  readonly min: number;
  readonly max: number;
  /** Elements in bins of one width, the first of which starts at `from`. */
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: readonly number[] };
  /** What each method would take of the values that readers tell apart: nothing is clipped by leaving out what a Relu discards. */
  readonly ranges: readonly CandidateRange[];
  /** The method whose range was taken; null where nothing was quantized yet. */
  readonly chosen: RangeMethod | null;
}

export interface CandidateRange {
  readonly method: RangeMethod;
  readonly low: number;
  readonly high: number;
  /** Share of the elements outside. */
  readonly clippedShare: number;
}

const MOST_TENSORS = 200;
const MOST_BINS = 48;
/** The others are for those who ask for them. */
const METHODS: readonly RangeMethod[] = ["minmax", "percentile", "mse"];

/**
 * @param values that are quantized, or would be; those that were not observed are left out
 * @param methodOf the method in use for a tensor, null where there is none yet
 */
export function calibrationFacts(
  values: readonly Value[],
  taps: ReadonlyMap<string, TapStatistics>,
  methodOf: (tensor: string) => RangeMethod | null,
): CalibrationFacts {
  const observed = values.flatMap((value): Observed[] => {
    const tap = taps.get(value.label);
    if (!tap || finiteCount(tap) === 0) return [];
    const [used, chosen] = [effectiveTap(value, tap), methodOf(value.label)];
    const ranges = new Map((chosen ? [chosen] : METHODS).map((method) => [method, chooseRange(used, { method })]));
    return [{ tap, used, chosen, ranges }];
  });
  const kept = new Set([...observed].sort((a, b) => lossOf(b) - lossOf(a)).slice(0, MOST_TENSORS));
  return { tensors: observed.filter((each) => kept.has(each)).map(factsOf), of: observed.length };
}

interface Observed {
  readonly tap: TapStatistics;
  /** Of it, what its readers tell apart. */
  readonly used: TapStatistics;
  readonly chosen: RangeMethod | null;
  /** Of the method in use, or of all where there is none. */
  readonly ranges: ReadonlyMap<RangeMethod, TapRange>;
}

/** What is clipped by the range in use, or by the tightest. */
const lossOf = ({ ranges }: Observed): number =>
  Math.max(...[...ranges.values()].map(({ clippedShare }) => clippedShare));

function factsOf({ tap, used, chosen, ranges }: Observed): CalibratedTensor {
  const methods = chosen === null || METHODS.includes(chosen) ? METHODS : [...METHODS, chosen];
  return {
    tensor: tap.name,
    elements: finiteCount(tap),
    min: tap.min,
    max: tap.max,
    histogram: histogramOf(tap),
    ranges: methods.map((method) => ({ method, ...(ranges.get(method) ?? chooseRange(used, { method })) })),
    chosen,
  };
}

/** The bins that hold anything, joined to as few as a drawing has room for. */
function histogramOf(tap: TapStatistics): CalibratedTensor["histogram"] {
  const { counts } = tap;
  const first = counts.findIndex((each) => each > 0);
  const last = counts.findLastIndex((each) => each > 0);
  const joined = Math.max(1, Math.ceil((last - first + 1) / MOST_BINS));
  const sums: number[] = [];
  for (let bin = first; bin <= last; bin += joined) {
    sums.push(counts.subarray(bin, Math.min(counts.length, bin + joined)).reduce((sum, each) => sum + each, 0));
  }
  const width = binWidth(tap);
  return { from: (first - binsPerSide) * width, width: joined * width, counts: sums };
}
