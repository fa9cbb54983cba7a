/** A model loaded in a fresh process of its own, to be timed. */
import type { Timer, TimerSpec } from "../port.js";
import type { JobPool } from "./job-pool.js";
import type { JobName, Jobs } from "./protocol.js";
import { sharedNowMs } from "./shared-clock.js";

/** Until the first request may arrive: the word has to reach the process before. */
const LEAD_MS = 50;

export async function openTimer(pool: JobPool, spec: TimerSpec, timeoutMs: number): Promise<Timer> {
  const process = pool.own(spec.isSparing ? "sparing" : "plain", spec.session.affinity);
  const call = async <J extends JobName>(
    job: J,
    args: Jobs[J]["args"],
    onProgress?: (done: number) => void,
  ): Promise<Jobs[J]["result"]> => {
    try {
      return await process.call({ job, args, model: spec.model, timeoutMs, ...(onProgress && { onProgress }) });
    } catch (error) {
      // A new process would time a model that was loaded again: the timer ends here.
      process.retire(error as Error);
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    pool.disown(process);
    await process.close();
  };
  try {
    return {
      ...(await call("timeOpen", spec)),
      measure: (runs) => call("timeRuns", { runs }),
      serve: (arrivalsMs, onProgress, patience) =>
        call("timeServe", { arrivalsMs, patience: patience ?? null, startAtMs: sharedNowMs() + LEAD_MS }, onProgress),
      peakRssBytes: () => call("peakRss", {}),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
