/**
 * Requests that arrive when they do, and wait while others are served. Latency counts from the arrival, so that a slow
 * answer delays all behind it in the figures as it does in life (Tene's "coordinated omission" is what a loop that waits for
 * each answer leaves out). Several processes get the requests dealt in turn, as a balancer does.
 */
import type { DatasetRef } from "../dataset/index.js";
import type { Runtime, ServingPatience, SessionOptions, Timer } from "../runtime/port.js";
import { warmUp } from "./warm-up.js";

export interface OpenLoopOptions {
  readonly model: string;
  readonly data: DatasetRef;
  readonly session: SessionOptions;
  /** Ascending, milliseconds from the start. */
  readonly arrivalsMs: Float64Array;
  readonly processes: number;
  /** Milliseconds of any fixed moment. */
  readonly clock: () => number;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** One entry a request that was served, in the order of arrival; moments in milliseconds from the start. */
export interface Served {
  readonly arrivalMs: Float64Array;
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
  readonly peakRssBytes: number;
}

/** For warming up. */
const WARM_MS = 2000;

/** A loaded model, or several of it, that requests are sent to; each load is told apart by nothing left of the one before. */
export class Server {
  private constructor(
    private readonly timers: readonly Timer[],
    /** Of one run when warm. */
    readonly serviceMs: number,
  ) {}

  /** Rejects as the runtime does; no process stays behind. */
  static async start(runtime: Runtime, options: Omit<OpenLoopOptions, "arrivalsMs">): Promise<Server> {
    const { model, data, session, processes, clock, signal } = options;
    const timers: Timer[] = [];
    try {
      for (let i = 0; i < processes; i++) {
        signal?.throwIfAborted();
        timers.push(await runtime.timer({ model, data, session }));
      }
      const { perRunMs } = await warmUp(timers, clock() + WARM_MS, clock);
      return new Server(timers, perRunMs.reduce((sum, ms) => sum + ms, 0) / perRunMs.length);
    } catch (failure) {
      await Promise.allSettled(timers.map((timer) => timer.close()));
      throw failure;
    }
  }

  get processes(): number {
    return this.timers.length;
  }

  /** As told by its processes (`Timer`). */
  get allowed(): Timer["allowed"] {
    return this.timers.flatMap(({ allowed }) => allowed);
  }

  /** All of them, or the first ones where patience ends before. */
  async serve(
    arrivalsMs: Float64Array,
    onProgress?: OpenLoopOptions["onProgress"],
    patience?: ServingPatience,
  ): Promise<Served> {
    const processes = this.timers.length;
    const dealt = this.timers.map((_, i) => arrivalsMs.filter((_, request) => request % processes === i));
    const done = new Array<number>(processes).fill(0);
    const each = patience && { ...patience, leastRequests: Math.ceil(patience.leastRequests / processes) };
    const parts = await Promise.all(
      this.timers.map((timer, i) => {
        const tell = (served: number): void => {
          done[i] = served;
          onProgress?.(
            done.reduce((sum, requests) => sum + requests, 0),
            arrivalsMs.length,
          );
        };
        return timer.serve(dealt[i]!, tell, each);
      }),
    );
    // Up to the first that a process did not come to.
    const left = parts.map(({ endMs }, i) => endMs.length * processes + i);
    const arrivalMs = arrivalsMs.slice(0, Math.min(arrivalsMs.length, ...left));
    const merged = (of: "startMs" | "endMs"): Float64Array =>
      arrivalMs.map((_, request) => parts[request % processes]![of][Math.floor(request / processes)]!);
    let peakRssBytes = 0;
    for (const timer of this.timers) peakRssBytes += await timer.peakRssBytes();
    return { arrivalMs, startMs: merged("startMs"), endMs: merged("endMs"), peakRssBytes };
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.timers.map((timer) => timer.close()));
  }
}
