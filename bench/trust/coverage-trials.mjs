/** How often intervals hold the truth, over trials on made-up latencies. What is examined is handed in. */
import { chance } from "./latency-sources.mjs";

/** Of a share of `trials`, by chance alone: three standard deviations around 95 %. */
export const chanceOf = (trials) => 3 * Math.sqrt((0.95 * 0.05) / trials);

const holds = ({ low, high }, truth) => (low === null || low <= truth) && (high === null || high >= truth);

/**
 * Shares of trials in which the 95 % interval of each percentile held the truth; one without an end holds what is beyond.
 * `intervals(values, ps, confidence)` is the function examined.
 */
export function percentileCoverage(intervals, source, { trials, runs, percentiles, seed = 1 }) {
  const random = chance(seed);
  const held = percentiles.map(() => 0);
  const truth = percentiles.map((p) => source.quantile(p));
  for (let trial = 0; trial < trials; trial++) {
    const next = source.series(random);
    const values = Float64Array.from({ length: runs }, next);
    for (const [i, interval] of intervals(values, percentiles, 0.95).entries()) {
      if (holds(interval, truth[i])) held[i]++;
    }
  }
  return held.map((count) => count / trials);
}

const [BASELINE, CANDIDATE] = ["baseline", "candidate"];

/** Of no interest here, but part of what a timer tells. */
const START = { processMs: 20, runtimeMs: 10, sessionMs: 20, runtimeBytes: 1, sessionBytes: 1 };

/** A runtime whose timers make latencies up, on a clock that only they move; each process is off by a factor of its own. */
function madeUpRuntime(source, { speedup, processDeviation, random, startMs = 50, scale = 1 }) {
  let nowMs = 0;
  const timer = async ({ model }) => {
    nowMs += startMs;
    const factor = (scale * Math.exp(processDeviation * random.normal())) / (model === CANDIDATE ? speedup : 1);
    const next = source.series(random);
    const measure = async (runs) =>
      Float64Array.from({ length: runs }, () => {
        const ms = factor * next();
        nowMs += ms;
        return ms;
      });
    return {
      start: START,
      allowed: [],
      loadMs: 50,
      firstRunMs: 10,
      measure,
      peakRssBytes: async () => 1,
      close: async () => {},
    };
  };
  return { runtime: { timer }, clock: () => nowMs };
}

/**
 * Races of two models until a limit is decided or the budget spent, as `gate` and `bench` run them: how often the speedup's
 * interval held the truth, and what was decided. `compareLatency` is the function examined; `options` are added to its own.
 * Processes start in `startMs`, 50 when absent, and runs take `scale` times what the source says.
 */
export async function speedupCoverage(
  compareLatency,
  source,
  { trials, seed = 1, truth, processDeviation, startMs, scale, options },
) {
  const random = chance(seed);
  const seen = { held: 0, met: 0, missed: 0, inconclusive: 0, runs: 0, processes: 0, width: 0 };
  for (let trial = 0; trial < trials; trial++) {
    const { runtime, clock } = madeUpRuntime(source, { speedup: truth, processDeviation, random, startMs, scale });
    const { runs, processes, candidates } = await compareLatency(runtime, {
      baseline: BASELINE,
      candidates: [CANDIDATE],
      data: { path: "made up" },
      session: { provider: "cpu", threads: 1, optimization: "all" },
      seed: trial,
      clock,
      ...options,
    });
    const { speedupInterval, decision } = candidates[0];
    const [low, high] = speedupInterval;
    if (holds({ low, high }, truth)) seen.held++;
    seen[decision]++;
    seen.runs += runs / trials;
    seen.processes += processes / trials;
    seen.width += Math.log(high / low) / trials;
  }
  return seen;
}
