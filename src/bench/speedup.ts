/** Speedup of a candidate from interleaved runs in several processes, and what it decides. */
import { medianRatio, SHORTEST_BLOCK } from "../base/bootstrap.js";
import { mean, median, normalQuantile, studentQuantile } from "../base/statistics.js";

/** Runs of one model, one series for each process it ran in; milliseconds. */
export type ProcessSeries = readonly (readonly number[])[];

export interface Speedup {
  /** Median of the baseline over median of the candidate, by nearest rank as p50 is. */
  readonly speedup: number;
  readonly speedupInterval: readonly [low: number, high: number];
}

/** What an interval says of a limit: all of it at or above, all of it below, or neither. */
export type Decision = "met" | "missed" | "inconclusive";

/**
 * What is taken for granted of processes before any is seen: that each shifts the logarithm of a
 * ratio by this much (standard deviation), believed as if it came from this many of them. Measured by
 * `bench/trust/overhead.mjs` on chains of products of 0.2 to 9 ms, 15 pairs of processes each: 1.7 to 2.6 %;
 * on a MobileNetV2, 14 pairs: below 1 %; on a model of 0.05 ms 10 %. So of the least models it is a time, and not a share.
 */
const assumedDeviation = 0.02;
const assumedDeviationMs = 0.004;
const assumedDegrees = 4;
/**
 * And no more than this, however far apart a few happen to lie: two processes have made 1.47 of a ratio. By Student's t alone two or
 * three that differ by a tenth leave an interval that reaches from nothing to thirty times as fast.
 */
const mostDeviation = 0.2;

/**
 * Resampling blocks of runs covers what varies within a process. But where memory lies is fixed
 * within one, differs between them and looks like a real difference. So the interval grows by the
 * variance between processes. A few of them say little about it: what they show beyond their runs is
 * pooled with the assumption above, and Student's t (Satterthwaite's degrees) stands for the doubt left.
 * The assumption counts the less, the more they differ beyond it.
 */
export function speedupOf(
  baseline: ProcessSeries,
  candidate: ProcessSeries,
  { confidence, seed }: { readonly confidence: number; readonly seed: number },
): Speedup {
  const resample = (runsOf: (processes: ProcessSeries) => readonly number[]): Reach =>
    reachOf([runsOf(baseline), runsOf(candidate)], [baseline, candidate], { confidence, seed });
  // Slow changes within a process look like its level where levels are evened out, and levels like so many runs where they are not.
  const [timed, even] = [resample((processes) => processes.flat()), resample(levelled)];
  const speedup = timed.ratio;
  const [down, up] = [Math.max(timed.down, even.down), Math.max(timed.up, even.up)];
  return { speedup, speedupInterval: [speedup * Math.exp(-down), speedup * Math.exp(up)] };
}

interface Reach {
  /** Of medians. */
  readonly ratio: number;
  /** How far its logarithm reaches below and above. */
  readonly down: number;
  readonly up: number;
}

/** With the runs of `pooled` resampled. */
function reachOf(
  pooled: readonly [readonly number[], readonly number[]],
  [baseline, candidate]: PairedSeries,
  { confidence, seed }: { readonly confidence: number; readonly seed: number },
): Reach {
  const { ratio, low, high, standardError, blockLength } = medianRatio(...pooled, { confidence, seed });
  const within = standardError ** 2;
  const between = processVariance(baseline, candidate, within);
  const p = (1 + confidence) / 2;
  const z = normalQuantile(p);
  const degrees = blockDegrees(pooled[0].length, blockLength);
  const doubt = within ** 2 / degrees + between.variance ** 2 / between.degrees;
  const t = studentQuantile(p, (within + between.variance) ** 2 / doubt);
  const tOfRuns = studentQuantile(p, degrees);
  // Each side keeps the reach that the resamples gave it, and adds the processes'.
  const reach = (bound: number): number => {
    const own = (Math.log(bound / ratio) / z) ** 2;
    return Math.min(t * Math.sqrt(own + between.variance), tOfRuns * Math.sqrt(own + between.most));
  };
  return { ratio, down: reach(low), up: reach(high) };
}

/**
 * The runs as if every process had the same median. Resampled with their own levels, a few processes would be taken for as
 * many runs: of 5 that differ by 5 to 10 %, intervals of 99 % left the truth out in 4 to 7 % of trials.
 */
const levelled = (processes: ProcessSeries): readonly number[] =>
  processes.flatMap((runs) => {
    const level = median(runs);
    return runs.map((ms) => ms / level);
  });

/**
 * Degrees of freedom of a variance from overlapping blocks (Politis and White 2004: 3/2 of the blocks there are). Runs that do
 * not depend on each other get the shortest blocks, which say nothing of the kind.
 */
const blockDegrees = (runs: number, blockLength: number): number =>
  blockLength <= SHORTEST_BLOCK ? Number.POSITIVE_INFINITY : Math.max(1, (1.5 * runs) / blockLength);

/** Variance that processes add to the logarithm of the overall ratio, how many degrees of freedom it rests on, and the most it can be. */
function processVariance(baseline: ProcessSeries, candidate: ProcessSeries, within: number) {
  const runs = baseline.map((series) => series.length);
  const total = runs.reduce((sum, n) => sum + n, 0);
  // Each counts as its runs do: what a process of a few runs tells is mostly chance.
  const shares = runs.map((n) => n / total);
  const alone = shares.reduce((sum, share) => sum + share ** 2, 0);
  const logs = logRatios([baseline, candidate]);
  const center = weighed(logs, shares);
  const count = logs.length;
  const all =
    count > 1
      ? weighed(
          logs.map((log) => (log - center) ** 2),
          shares,
        ) /
        (1 - alone)
      : 0;
  // The runs of a process alone have one over its share times the variance of all runs.
  const explained = count > 1 ? ((count - 1) * within) / (1 - alone) : 0;
  const shortest = Math.min(...[baseline, candidate].flatMap((series) => series.map(median)));
  const assumed = Math.max(assumedDeviation, assumedDeviationMs / shortest) ** 2;
  const believed = assumedDegrees * (all > 0 ? Math.min(1, (assumed + explained) / all) : 1);
  const own = 1 / alone - 1;
  const each = (believed * assumed + own * Math.max(0, all - explained)) / (believed + own);
  return { variance: each * alone, degrees: Math.max(1, believed + own), most: mostDeviation ** 2 * alone };
}

const weighed = (values: readonly number[], shares: readonly number[]): number =>
  values.reduce((sum, value, i) => sum + value * shares[i]!, 0);

const logRatios = ([baseline, candidate]: PairedSeries): number[] =>
  baseline.map((series, p) => Math.log(median(series) / median(candidate[p]!)));

/** Both models of a race. */
export type PairedSeries = readonly [baseline: ProcessSeries, candidate: ProcessSeries];

/** Whether two races tell the same ratio but for chance. */
export function isAlike(one: PairedSeries, other: PairedSeries): boolean {
  const apart = mean(logRatios(one)) - mean(logRatios(other));
  return Math.abs(apart) <= ALIKE_DEVIATIONS * Math.hypot(processError(...one), processError(...other));
}

/** By chance alone, one in a hundred is further apart. */
const ALIKE_DEVIATIONS = normalQuantile(0.995);

/**
 * The standard error that processes leave the logarithm of the ratio, what is due to the few runs of each included; what is
 * assumed of them where nothing has run.
 */
export const processError = (baseline: ProcessSeries, candidate: ProcessSeries): number =>
  baseline.length === 0 ? assumedDeviation : Math.sqrt(processVariance(baseline, candidate, 0).variance);

export function decide([low, high]: readonly [number, number], atLeast: number): Decision {
  if (low >= atLeast) return "met";
  return high < atLeast ? "missed" : "inconclusive";
}

/** Whether the ratio is at least so much, and the lower end of its interval is not. */
export const isInDoubt = ({ speedup, speedupInterval }: Speedup, atLeast: number): boolean =>
  speedup >= atLeast && speedupInterval[0] < atLeast;
