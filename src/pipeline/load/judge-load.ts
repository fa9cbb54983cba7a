/** Whether a load was served, and the limits on latency under it. */
import { percentileShares } from "../../base/percentiles.js";
import { quantileSide } from "../../base/quantile-interval.js";
import { areEnough, type LoadSummary } from "../../bench/index.js";
import type { LatencyLimit } from "../config.js";
import type { VerdictReason } from "../result.js";
import { MOST_TIMES } from "../verdict/time-to-tell.js";
import { percentileReason } from "../verdict/verdict.js";

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
  const requests = latencies.length;
  const late = latencies.reduce((count, each) => count + (each > ms ? 1 : 0), 0);
  const sideOf = quantileSide(latencies, share, ms);
  const statusAt = (times: number): VerdictReason["status"] => {
    const side = sideOf(times);
    if (side === "above") return "missed";
    // LoadGen's rule, 99 % sure, knows of no request that waited for another; the side does.
    return side === "below" && areEnough(Math.round(times * late), times * requests, share) ? "met" : "inconclusive";
  };
  const reason = percentileReason(limit, latency, bounds);
  const status = statusAt(1);
  const text = `${reason.text}; ${late} of ${requests} requests took longer`;
  if (status !== "inconclusive") return { ...reason, status, text };
  const needed = requestsToDecide(requests, (count) => statusAt(count / requests));
  const remark =
    needed === null
      ? `, too near the limit for even ${MOST_TIMES} times as many to tell`
      : `, and it takes about ${needed} like these to tell`;
  return { ...reason, status, text: text + remark, longer: needed === null ? null : needed / requests };
}

/** Found to within this share. */
const NEAR_ENOUGH = 0.002;

/** How many requests like those that came decide a limit; null where not even the most do. */
function requestsToDecide(requests: number, statusOf: (count: number) => VerdictReason["status"]): number | null {
  const isOpen = (count: number): boolean => statusOf(count) === "inconclusive";
  const most = MOST_TIMES * requests;
  let [tooFew, enough] = [requests, 2 * requests];
  while (isOpen(enough)) {
    if (enough >= most) return null;
    [tooFew, enough] = [enough, Math.min(most, 2 * enough)];
  }
  while (enough - tooFew > Math.max(1, NEAR_ENOUGH * enough)) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (isOpen(middle)) tooFew = middle;
    else enough = middle;
  }
  return enough;
}

const per = (rate: number): string => `${Number(rate.toPrecision(3))} requests a second`;
