/** What a race tells while it goes on: how fast the original is, how much its runs vary, and how much faster the best candidate. */
import { ascending, quantile } from "../../base/statistics.js";
import type { RunContext } from "../context.js";

const EVERY_MS = 500;

/** Takes all times so far, [model][process][run], the original first. */
export function timingSoFar({ observer, now }: RunContext): (series: readonly (readonly number[])[][]) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (series) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    const [baseline, ...others] = series.map((processes) => ascending(processes.flat()));
    if (!baseline || baseline.length === 0) return;
    const baselineMs = quantile(baseline, 0.5);
    const speedups = others.filter(({ length }) => length > 0).map((times) => baselineMs / quantile(times, 0.5));
    const spread = (quantile(baseline, 0.75) - quantile(baseline, 0.25)) / 2 / baselineMs;
    observer({ type: "timing", baselineMs, speedup: speedups.length === 0 ? null : Math.max(...speedups), spread });
  };
}
