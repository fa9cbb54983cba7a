/** Whether a load was served, and the limits on latency under it. */
import { percentileShares } from "../../base/percentiles.js";
import { isQuantileAbove, isQuantileBelow } from "../../base/quantile-interval.js";
import { type LoadSummary, queriesNeeded } from "../../bench/index.js";
import type { LatencyLimit } from "../config.js";
import type { VerdictReason } from "../result.js";
import { percentileReason } from "../verdict.js";

/** One reason for the rate (requests a second), and one for each limit. `latencies`: of the requests that count, in the order of arrival. */
export function judgeLoad(
  summary: LoadSummary,
  latencies: Float64Array,
  slo: readonly LatencyLimit[],
  rate: number,
): VerdictReason[] {
  const { servedPerSecond, utilization } = summary;
  const isServed = utilization < 1;
  const busy = `${Math.round(100 * utilization)} % busy`;
  return [
    {
      limit: "rate",
      wanted: rate,
      got: servedPerSecond,
      unit: "a second",
      status: isServed ? "met" : "missed",
      text: isServed
        ? `${per(rate)} arrived and were served, ${busy}`
        : `the queue grows: of ${per(rate)} only ${per(servedPerSecond)} were served, ${busy}`,
    },
    ...slo.map((limit) => judgeLate(limit, summary, latencies)),
  ];
}

/**
 * By how many requests were late, which tells of a limit that is far away long before the bounds of the percentile do, and
 * when there were as many as LoadGen asks for.
 */
function judgeLate(limit: LatencyLimit, { latency, bounds }: LoadSummary, latencies: Float64Array): VerdictReason {
  const { percentile, ms } = limit;
  const share = percentileShares[percentile];
  const late = latencies.reduce((count, each) => count + (each > ms ? 1 : 0), 0);
  const reason = percentileReason(limit, latency, bounds);
  const told = (status: VerdictReason["status"], remark = ""): VerdictReason => {
    const text = `${reason.text}; ${late} of ${latencies.length} requests took longer${remark}`;
    return { ...reason, status, text };
  };
  if (isQuantileAbove(latencies, share, ms)) return told("missed");
  const needed = queriesNeeded(late, share);
  if (latencies.length < needed) {
    return told("inconclusive", `, and then it takes ${needed} to be 99 % sure: time longer`);
  }
  if (isQuantileBelow(latencies, share, ms)) return told("met");
  return told("inconclusive", ", which depend on each other too much to be sure: time longer");
}

const per = (rate: number): string => `${Number(rate.toPrecision(3))} requests a second`;
