/**
 * Runs models until their latency has settled: caches filled, memory pools grown, clocks up.
 * Looks at the series, not at a count: two windows in a row whose median is not 5 % below the least so far.
 * Only new lows count: that is what warming up looks like, while other load lifts a window, and lets go of the next.
 */
import { median } from "../base/statistics.js";
import type { Timer } from "../runtime/port.js";

const windowMs = 25;
/** Medians of fewer say little, where one may be late by chance and a whole window costs next to nothing. */
const usualRuns = 3;
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
 * @param leastRuns of one window; where a verdict is wanted soon, a single run that takes as long as a window will do
 */
export async function warmUp(
  timers: readonly Timer[],
  deadline: number,
  clock: () => number,
  leastRuns = usualRuns,
): Promise<WarmUp> {
  const window = async (runs: number): Promise<number[]> => {
    const medians: number[] = [];
    for (const timer of timers) medians.push(median(await timer.measure(runs)));
    return medians;
  };
  let last = await window(1);
  const runs = Math.max(leastRuns, Math.min(100, Math.ceil(windowMs / Math.max(...last))));
  let least = last;
  let calm = 0;
  for (let i = 0; i < mostWindows && clock() < deadline; i++) {
    const next = await window(runs);
    const fall = Math.max(...next.map((ms, t) => 1 - ms / least[t]!));
    last = next;
    least = next.map((ms, t) => Math.min(ms, least[t]!));
    calm = fall < tolerance ? calm + 1 : 0;
    if (calm === 2) return { perRunMs: last, settled: true };
  }
  return { perRunMs: last, settled: false };
}
