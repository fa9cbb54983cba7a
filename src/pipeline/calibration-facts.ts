/** What calibration saw of each tensor, and the ranges that each method takes from it: small enough for a result. */
import {
  binsPerSide,
  binWidth,
  chooseRange,
  finiteCount,
  type RangeMethod,
  type TapStatistics,
} from "../observe/index.js";

export interface CalibrationFacts {
  /** Those that lose the most by their range, in execution order. */
  readonly tensors: readonly CalibratedTensor[];
  /** All that were observed. */
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
  /** What each method would take. */
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

/** `methodOf`: the method in use for a tensor, null where there is none yet. */
export function calibrationFacts(
  taps: ReadonlyMap<string, TapStatistics>,
  methodOf: (tensor: string) => RangeMethod | null,
): CalibrationFacts {
  const observed = [...taps].flatMap(([tensor, tap]) => {
    return finiteCount(tap) === 0 ? [] : [factsOf(tensor, tap, methodOf(tensor))];
  });
  const kept = new Set([...observed].sort((a, b) => lossOf(b) - lossOf(a)).slice(0, MOST_TENSORS));
  return { tensors: observed.filter((each) => kept.has(each)), of: observed.length };
}

/** What is clipped by the range in use, or by the tightest. */
const lossOf = ({ ranges, chosen }: CalibratedTensor): number =>
  Math.max(
    ...ranges.filter(({ method }) => chosen === null || method === chosen).map(({ clippedShare }) => clippedShare),
  );

function factsOf(tensor: string, tap: TapStatistics, chosen: RangeMethod | null): CalibratedTensor {
  const methods = chosen === null || METHODS.includes(chosen) ? METHODS : [...METHODS, chosen];
  return {
    tensor,
    elements: finiteCount(tap),
    min: tap.min,
    max: tap.max,
    histogram: histogramOf(tap),
    ranges: methods.map((method) => ({ method, ...chooseRange(tap, { method }) })),
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
