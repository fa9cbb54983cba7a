/** Intervals by resampling, for statistics without a formula. Seeded: same data and seed, same interval. */
import { invariant } from "./errors.js";
import { type Random, seededRandom } from "./random.js";
import { type Interval, mean, normalQuantile, quantile, variance } from "./statistics.js";

export interface BootstrapOptions {
  readonly seed: number;
  /** 0.95 when absent. */
  readonly confidence?: number;
  /** 2000 when absent. */
  readonly resamples?: number;
}

export interface PairedOptions extends BootstrapOptions {
  /** Of a measure with a unit of its own: differences of 0 and 1 are numbers like others, and no answers. */
  readonly isMeasure?: boolean;
}

/**
 * Interval of mean(after - before) over paired samples.
 *
 * When every difference is -1, 0 or 1 (right or wrong, before and after) it is Agresti and
 * Min's (2005): Wald's on counts with half a change added each way. It stays honest where
 * resampling fails, above all when nothing changed: 100 equal pairs give +-0.019, not +-0.
 * Other equal differences leave nothing to resample and give a point.
 */
export function pairedDifferenceInterval(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  options: PairedOptions,
): Interval {
  invariant(before.length === after.length && before.length > 0, "pairs need two series of one length");
  const differences = Float64Array.from(before, (value, i) => after[i]! - value);
  const confidence = options.confidence ?? 0.95;
  const isShare = !options.isMeasure && differences.every((d) => d === 0 || d === 1 || d === -1);
  if (isShare) return pairedShareInterval(differences, confidence);
  if (differences.every((d) => d === differences[0])) return { low: differences[0]!, high: differences[0]! };

  const random = seededRandom(options.seed);
  const n = differences.length;
  const center = mean(differences);
  // A resample's spread is the sample's, sqrt((n - 1) / n) of what it estimates.
  const widen = Math.sqrt(n / (n - 1));
  const means = resampled(options.resamples, () => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += differences[random.below(n)]!;
    return center + (sum / n - center) * widen;
  });
  return middle(means, confidence);
}

function pairedShareInterval(differences: Float64Array, confidence: number): Interval {
  let better = 0;
  let worse = 0;
  for (const d of differences) {
    if (d > 0) better++;
    if (d < 0) worse++;
  }
  return changedShareInterval(differences.length, { better, worse }, confidence);
}

/** The same by counts of pairs that changed, which need not be whole: what an interval would be of more samples like these. */
export function changedShareInterval(
  samples: number,
  changed: { readonly better: number; readonly worse: number },
  confidence: number,
): Interval {
  const n = samples + 2;
  const [better, worse] = [changed.better + 0.5, changed.worse + 0.5];
  const center = (better - worse) / n;
  const half = (normalQuantile((1 + confidence) / 2) * Math.sqrt(better + worse - (better - worse) ** 2 / n)) / n;
  return { low: Math.max(-1, center - half), high: Math.min(1, center + half) };
}

export interface RatioEstimate extends Interval {
  /** median(numerator) / median(denominator); low and high bound it. */
  readonly ratio: number;
  /** Of the ratio's logarithm. */
  readonly standardError: number;
  /** Pairs that were resampled together. */
  readonly blockLength: number;
}

/**
 * Ratio of medians (by nearest rank) of two positive series taken in turns (pair i = run i of both), with an
 * interval from resampling whole blocks of neighbouring pairs: neighbours share load and
 * clock, and resampling them apart would be too sure of itself.
 */
export function medianRatio(
  numerator: ArrayLike<number>,
  denominator: ArrayLike<number>,
  options: BootstrapOptions & { readonly blockLength?: number },
): RatioEstimate {
  const n = numerator.length;
  invariant(n === denominator.length && n > 0, "pairs need two series of one length");
  const over = rankedSeries(numerator);
  const under = rankedSeries(denominator);
  const blockLength = Math.min(n, options.blockLength ?? blockLengthFor(numerator, denominator));
  const random = seededRandom(options.seed);
  const picks = new Uint32Array(n);
  const logs = resampled(options.resamples, () => {
    drawBlocks(picks, blockLength, random);
    return Math.log(over.medianOf(picks) / under.medianOf(picks));
  });
  const { low, high } = middle(logs, options.confidence ?? 0.95);
  const all = Uint32Array.from({ length: n }, (_, i) => i);
  return {
    ratio: over.medianOf(all) / under.medianOf(all),
    low: Math.exp(low),
    high: Math.exp(high),
    standardError: Math.sqrt(variance(logs)),
    blockLength,
  };
}

/** Of pairs that do not depend on each other, as far as can be told. */
export const SHORTEST_BLOCK = 4;

/**
 * Twice the first lag at which the autocorrelation of neither series' logarithm, nor of
 * their ratio's, can be told from 0; at least 4, at most a sixth of the series.
 */
export function blockLengthFor(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = a.length;
  const logA = Float64Array.from(a, Math.log);
  const logB = Float64Array.from(b, Math.log);
  const ratio = logA.map((value, i) => value - logB[i]!);
  const lag = Math.max(...[logA, logB, ratio].map(firstQuietLag));
  return Math.max(SHORTEST_BLOCK, Math.min(2 * lag, Math.floor(n / 6)));
}

function firstQuietLag(series: Float64Array): number {
  const n = series.length;
  const center = mean(series);
  const total = variance(series) * (n - 1);
  if (!(total > 0)) return 1;
  const bound = 2 / Math.sqrt(n);
  for (let lag = 1; lag < n / 6; lag++) {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += (series[i]! - center) * (series[i - lag]! - center);
    if (sum / total < bound) return lag;
  }
  return Math.max(1, Math.floor(n / 6));
}

/** Fills `picks` with runs of consecutive indices that start anywhere and wrap around. */
function drawBlocks(picks: Uint32Array, blockLength: number, random: Random): void {
  const n = picks.length;
  for (let at = 0; at < n; ) {
    let index = random.below(n);
    for (let i = 0; i < blockLength && at < n; i++, at++) {
      picks[at] = index;
      index = index + 1 === n ? 0 : index + 1;
    }
  }
}

/** Ranks are sorted once; a resample's median is then found by counting, without sorting again. */
function rankedSeries(values: ArrayLike<number>): { medianOf(picks: Uint32Array): number } {
  const n = values.length;
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => values[i]! - values[j]!);
  const rank = new Uint32Array(n);
  for (let r = 0; r < n; r++) rank[order[r]!] = r;
  const counts = new Uint32Array(n);
  return {
    medianOf(picks) {
      counts.fill(0);
      for (let i = 0; i < n; i++) counts[rank[picks[i]!]!]!++;
      let seen = counts[0]!;
      let r = 0;
      while (2 * seen < n) seen += counts[++r]!;
      return values[order[r]!]!;
    },
  };
}

function resampled(resamples: number | undefined, draw: () => number): Float64Array {
  return Float64Array.from({ length: resamples ?? 2000 }, draw).sort();
}

const middle = (sorted: Float64Array, confidence: number): Interval => ({
  low: quantile(sorted, (1 - confidence) / 2),
  high: quantile(sorted, (1 + confidence) / 2),
});
