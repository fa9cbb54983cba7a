/** The stages before the model in a thread of their own: this side of it. */
import { Worker } from "node:worker_threads";
import { invariant, messageOf } from "../../../base/errors.js";
import { type StageContext, stagesEnded } from "../../../stages/index.js";
import { ownMs } from "../shared-clock.js";
import { fromWireError, type WireError } from "../wire-error.js";

export interface AheadData {
  readonly path: string;
  /** null: the module has its own. */
  readonly requests: readonly unknown[] | null;
  readonly ports: Pick<StageContext, "inputs" | "outputs">;
}

/** One request with its stages behind it; `startedAt` by a clock that both threads share. */
export interface Prepared {
  readonly value: unknown;
  readonly state: Record<string, unknown>;
  readonly startedAt: number;
}

export type ThreadReply =
  | { readonly kind: "ready" }
  | ({ readonly kind: "prepared" } & Prepared)
  | { readonly kind: "failed"; readonly error: WireError }
  /** What was made cannot leave the thread. */
  | { readonly kind: "stuck"; readonly why: string };

/** A stage ended the thread: said by no thread any more. */
interface Ended {
  readonly kind: "ended";
  readonly exitCode: number;
}

/** The module cannot live in a thread, or what it makes cannot leave one. */
export class CannotWorkAhead extends Error {}

export class StagesAhead {
  readonly #worker: Worker;
  readonly #arrived: (ThreadReply | Ended)[] = [];
  #waiting: ((reply: ThreadReply | Ended) => void) | null = null;

  private constructor(
    readonly path: string,
    worker: Worker,
  ) {
    this.#worker = worker;
    const arrive = (reply: ThreadReply | Ended): void => {
      const waiting = this.#waiting;
      this.#waiting = null;
      if (waiting) waiting(reply);
      else this.#arrived.push(reply);
    };
    worker.on("message", arrive);
    worker.on("error", (cause) => arrive({ kind: "stuck", why: messageOf(cause) }));
    // Behind all that it said, and behind an error.
    worker.on("exit", (exitCode) => arrive({ kind: "ended", exitCode }));
  }

  /** Rejects with CannotWorkAhead where the module cannot live in a thread. */
  static async start(path: string, requests: AheadData["requests"], ports: AheadData["ports"]): Promise<StagesAhead> {
    const entry = process.argv[1];
    invariant(entry, "a process has a file that it started with");
    const workerData: AheadData = { path, requests, ports };
    const ahead = new StagesAhead(path, new Worker(entry, { workerData }));
    await ahead.#reply();
    return ahead;
  }

  /** Has a request prepared. What is asked for comes in that order. */
  ask(index: number): void {
    this.#worker.postMessage(index);
  }

  /** `startedMs` by the clock of this thread. Rejects as the stages do, with PIPELINE_ENDED, and with CannotWorkAhead. */
  async next(): Promise<Omit<Prepared, "startedAt"> & { readonly startedMs: number }> {
    const reply = await this.#reply();
    invariant(reply.kind === "prepared", "a thread that was asked has something prepared");
    return { value: reply.value, state: reply.state, startedMs: ownMs(reply.startedAt) };
  }

  async #reply(): Promise<ThreadReply> {
    const reply =
      this.#arrived.shift() ?? (await new Promise<ThreadReply | Ended>((resolve) => (this.#waiting = resolve)));
    if (reply.kind === "ended") {
      const doing = `one of the stages of ${this.path}`;
      throw stagesEnded(doing, `exit code ${reply.exitCode}`, { fields: { path: this.path, doing } });
    }
    if (reply.kind === "failed") throw fromWireError(reply.error);
    if (reply.kind === "stuck") throw new CannotWorkAhead(reply.why);
    return reply;
  }
}
