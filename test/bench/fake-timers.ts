/** A runtime whose timers make latencies up, on a clock that only they move. */
import { invariant } from "../../src/base/errors.js";
import { type Random, seededRandom } from "../../src/base/random.js";
import type { Runtime, SessionOptions, Timer, TimerSpec } from "../../src/runtime/port.js";

export interface FakeModel {
  /** Milliseconds of a run: `run` counts from 0 in its process, `nowMs` is the clock. */
  readonly latency: (chance: Random, run: number, nowMs: number, process: number) => number;
  readonly loadMs?: number;
}

export class FakeTimers {
  nowMs = 0;
  open = 0;
  readonly opened: string[] = [];
  /** Of each of them, in that order. */
  readonly sessions: SessionOptions[] = [];
  /** The models in the order in which they were asked to run, warm-up included. */
  readonly turns: string[] = [];
  private readonly chance: Random;

  constructor(
    private readonly models: Readonly<Record<string, FakeModel>>,
    seed: number,
  ) {
    this.chance = seededRandom(seed);
  }

  readonly clock = (): number => this.nowMs;

  /** Only `timer` works: the rest is none of a benchmark's business. */
  readonly runtime = { timer: (spec: TimerSpec) => this.timer(spec) } as unknown as Runtime;

  private async timer({ model, session }: TimerSpec): Promise<Timer> {
    this.sessions.push(session);
    const { latency, loadMs = 50 } = this.models[model]!;
    this.open++;
    const process = this.opened.push(model);
    this.nowMs += loadMs;
    let run = 0;
    let closed = false;
    return {
      loadMs,
      firstRunMs: 1,
      start: { processMs: loadMs / 2, runtimeMs: loadMs / 5, sessionMs: process, runtimeBytes: 5e5, sessionBytes: 7e5 },
      allowed: [],
      measure: async (runs) => {
        invariant(!closed, "a closed timer is not asked to run");
        this.turns.push(model);
        return Float64Array.from({ length: runs }, () => {
          const ms = latency(this.chance, run++, this.nowMs, process);
          this.nowMs += ms;
          return ms;
        });
      },
      serve: () => Promise.reject(new Error("requests are none of these tests' business")),
      peakRssBytes: async () => 1e6 * process,
      close: async () => {
        closed = true;
        this.open--;
      },
    };
  }
}
