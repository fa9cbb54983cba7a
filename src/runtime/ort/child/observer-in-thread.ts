/** An observer in a thread of its own, which looks at one sample while the model runs the next: this side of it. */
import { Worker } from "node:worker_threads";
import { invariant } from "../../../base/errors.js";
import type { TapStatistics } from "../../../observe/index.js";
import { fromWireError, toWireError, type WireError } from "../wire-error.js";
import type { ObservedSample, ObservingTask } from "./observer.js";

/** What the thread is started with. */
export interface ObserverData {
  readonly observe: ObservingTask;
}

/** A sample, or null after the last one. */
export type ObserverRequest = ObservedSample | null;

export type ObserverReply =
  | { readonly kind: "seen" }
  | { readonly kind: "finished"; readonly taps: TapStatistics[] }
  | { readonly kind: "failed"; readonly error: WireError };

type Answer = Exclude<ObserverReply, { kind: "failed" }>;

export class ObserverInThread {
  readonly #worker: Worker;
  /** What the thread was given last. */
  #answer: Promise<Answer | null> = Promise.resolve(null);
  #settle: ((reply: ObserverReply) => void) | null = null;

  constructor(task: ObservingTask) {
    const entry = process.argv[1];
    invariant(entry, "a process has a file that it started with");
    this.#worker = new Worker(entry, { workerData: { observe: task } satisfies ObserverData });
    this.#worker.on("message", (reply: ObserverReply) => this.#settle?.(reply));
    this.#worker.on("error", (cause) => this.#settle?.({ kind: "failed", error: toWireError(cause) }));
  }

  /** Hands a sample over once the one before it was seen: never more than one is held there. */
  async add(sample: ObservedSample): Promise<void> {
    await this.#answer;
    const moved = new Set<ArrayBuffer>();
    for (const { data, isLent } of sample.tensors.values())
      if (!isLent && ArrayBuffer.isView(data) && data.buffer instanceof ArrayBuffer) moved.add(data.buffer);
    this.#ask(sample, [...moved]);
  }

  async finish(): Promise<TapStatistics[]> {
    await this.#answer;
    this.#ask(null, []);
    const answer = await this.#answer;
    invariant(answer?.kind === "finished", "a thread that was told of the end has finished");
    return answer.taps;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(request: ObserverRequest, moved: readonly ArrayBuffer[]): void {
    this.#answer = new Promise((resolve, reject) => {
      this.#settle = (reply) => (reply.kind === "failed" ? reject(fromWireError(reply.error)) : resolve(reply));
    });
    // It is told when it is waited for.
    this.#answer.catch(() => undefined);
    this.#worker.postMessage(request, moved);
  }
}
