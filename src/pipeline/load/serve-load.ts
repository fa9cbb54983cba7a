/** Requests sent to a server when they are due, for as long as waiting for the answers is worth it. */
import {
  type CountedTimes,
  countedTimes,
  type LoadSummary,
  type LoadWindow,
  type Server,
  summarizeLoad,
} from "../../bench/index.js";

export interface SentLoad extends LoadWindow {
  /** Ascending, milliseconds from the start. */
  readonly arrivalsMs: Float64Array;
}

export interface ServedLoad {
  /** Requests that were served, and for how long these arrived: fewer and shorter than what was sent where the queue grew. */
  readonly requests: number;
  readonly durationMs: number;
  readonly counted: CountedTimes;
  readonly summary: LoadSummary;
  readonly peakRssBytes: number;
}

/** Requests that the percentiles start to be worth something with. */
export const LEAST_REQUESTS = 30;

/** Where even so few take longer than there is patience for, the queue grows beyond doubt: of a model that takes minutes no more are waited for. */
const LEAST_SERVED = 5;

/** No request is begun after `untilMs` from the start, but for the least that figures can be made of. */
export async function serveLoad(
  server: Server,
  sent: SentLoad,
  untilMs: number,
  onProgress: (done: number, total: number) => void,
): Promise<ServedLoad> {
  const { arrivalsMs, durationMs } = sent;
  const served = await server.serve(arrivalsMs, onProgress, { untilMs, leastRequests: LEAST_SERVED });
  const requests = served.arrivalMs.length;
  // Several may have arrived at one moment, the first.
  const servedMs = arrivalsMs.find((ms, i) => i >= requests && ms > 0) ?? durationMs;
  const counting = { ...sent, durationMs: servedMs };
  const counted = countedTimes(served, counting);
  const summary = summarizeLoad(served, counting, server.processes, counted);
  return { requests, durationMs: servedMs, counted, summary, peakRssBytes: served.peakRssBytes };
}
