/**
 * Runs models until their latency has settled: caches filled, memory pools grown, clocks up.
 * Looks at the series, not at a count: windows in a row whose median is not 5 % below the least so far.
 * Only new lows count: that is what warming up looks like, while other load lifts a window, and lets go of the next.
 */
import { median } from "../base/statistics.js";
import type { Timer } from "../runtime/port.js";

const windowMs = 25;
/** Runs of a window at least: medians of fewer say little, where one may be late by chance; and windows that bring nothing new. */
const usual = { runs: 3, calm: 2 };
/** The same where a verdict is wanted soon: a single run that takes as long as a window will do, and so will one window. */
const quick = { runs: 1, calm: 1 };
const tolerance = 0.05;
const mostWindows = 10;

export interface WarmUp {
  /** Median of each timer's last window. */
  readonly perRunMs: readonly number[];
  /** False when the windows or the time ran out first. */
  readonly settled: boolean;
}

/**
 * All timers run equally often and in turns, so that each later meets the samples in the
 * same order. Ends at `deadline` (by the clock) even when nothing has settled.
 */
export async function warmUp(
  timers: readonly Timer[],
  deadline: number,
  clock: () => number,
  isQuick = false,
): Promise<WarmUp> {
  const least = isQuick ? quick : usual;
  const window = async (runs: number): Promise<number[]> => {
    const medians: number[] = [];
    for (const timer of timers) medians.push(median(await timer.measure(runs)));
    return medians;
  };
  let last = await window(1);
  const runs = Math.max(least.runs, Math.min(100, Math.ceil(windowMs / Math.max(...last))));
  let fastest = last;
  let calm = 0;
  for (let i = 0; i < mostWindows && clock() < deadline; i++) {
    const next = await window(runs);
    const fall = Math.max(...next.map((ms, t) => 1 - ms / fastest[t]!));
    last = next;
    fastest = next.map((ms, t) => Math.min(ms, fastest[t]!));
    calm = fall < tolerance ? calm + 1 : 0;
    if (calm === least.calm) return { perRunMs: last, settled: true };
  }
  return { perRunMs: last, settled: false };
}
