/** Where a profile and the timing in turns do not say the same of the speed, or of how long a run takes: which of them counts, in words. */
import type { OperatorShare } from "../pipeline/profile/operator-times.js";
import type { LatencyFacts, RunResult } from "../pipeline/result.js";
import { interval, milliseconds, ratio } from "./numbers.js";

/** Nodes alone take less than a run, and few runs are not all runs: so far apart they may be. */
const TOLERANCE = 0.1;
/** Less is neither faster nor slower. */
const SAME = 0.01;

/** null where they agree, or one of them is missing. */
export function profileRemark({ operatorTimes, latency }: Pick<RunResult, "operatorTimes" | "latency">): string | null {
  if (!operatorTimes || !latency) return null;
  const sums = [sumOf(operatorTimes.before), sumOf(operatorTimes.after)] as const;
  const remarks = [speedRemark(sums, latency), sumRemark(sums, latency)].filter((each) => each !== null);
  return remarks.length === 0 ? null : remarks.join(" ");
}

type Sums = readonly [number, number];

/** What the profiler takes for each node is much of what small nodes take. */
function sumRemark([before, after]: Sums, { baseline, candidate }: LatencyFacts): string | null {
  const pairs = [[before, baseline.p50Ms] as const, [after, candidate.p50Ms] as const];
  const beyond = pairs.find(([sum, median]) => sum > median * (1 + TOLERANCE));
  if (!beyond) return null;
  const [sum, median] = beyond;
  return (
    `Their sum (${milliseconds(sum)} ms) is more than a run takes (median ${milliseconds(median)} ms): ` +
    "they hold what the profiler itself takes for each node."
  );
}

function speedRemark([before, after]: Sums, latency: LatencyFacts): string | null {
  if (!(before > 0 && after > 0)) return null;
  const { speedup, speedupInterval } = latency;
  const [low, high] = speedupInterval;
  const told = before / after;
  const isFar = told < low * (1 - TOLERANCE) || told > high * (1 + TOLERANCE);
  const isOpposed = (told < 1 - SAME && low > 1) || (told > 1 + SAME && high < 1);
  if (!isFar && !isOpposed) return null;
  return (
    `By these times the model would be ${ratio(told)} as fast: they are of a profile of few runs, apart from the timing. ` +
    `Timed in turns it was ${ratio(speedup)} (${interval(speedupInterval, ratio)}), which is what counts.`
  );
}

const sumOf = (shares: readonly OperatorShare[]): number => shares.reduce((sum, { ms }) => sum + ms, 0);
