/**
 * An observer in a thread of its own, which looks at one sample while the model runs the next: this side of it. Where the
 * model is the faster of the two, tensors are taken in here until the thread is free: statistics do not depend on who saw
 * what of them.
 */
import { Worker } from "node:worker_threads";
import { invariant } from "../../../base/errors.js";
import { mergeTaps, newTap, type TapStatistics } from "../../../observe/index.js";
import { fromWireError, toWireError, type WireError } from "../wire-error.js";
import { type ObservedSample, type ObservingTask, observedAt, observeTapped } from "./observer.js";

/** What the thread is started with. */
export interface ObserverData {
  readonly observe: ObservingTask;
  /** One number, shared: 1 from when a sample was handed over until it was seen. */
  readonly busy: Int32Array;
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
  readonly #busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** Of what was taken in here: the first of the task's, as far as there was time for them. */
  readonly #own: TapStatistics[] = [];
  readonly #isObserved: (position: number) => boolean;

  constructor(readonly task: ObservingTask) {
    const entry = process.argv[1];
    invariant(entry, "a process has a file that it started with");
    this.#isObserved = observedAt(task);
    this.#worker = new Worker(entry, { workerData: { observe: task, busy: this.#busy } satisfies ObserverData });
    this.#worker.on("message", (reply: ObserverReply) => this.#settle?.(reply));
    this.#worker.on("error", (cause) => this.#settle?.({ kind: "failed", error: toWireError(cause) }));
  }

  /** Hands a sample over once the one before it was seen: never more than one is held there. */
  async add(sample: ObservedSample): Promise<void> {
    const seen = this.#isObserved(sample.position) ? this.#takeIn(sample) : 0;
    await this.#answer;
    const moved = new Set<ArrayBuffer>();
    for (const { data, isLent } of sample.tensors.values())
      if (!isLent && ArrayBuffer.isView(data) && data.buffer instanceof ArrayBuffer) moved.add(data.buffer);
    this.#ask({ ...sample, seen }, [...moved]);
  }

  async finish(): Promise<TapStatistics[]> {
    await this.#answer;
    this.#ask(null, []);
    const answer = await this.#answer;
    invariant(answer?.kind === "finished", "a thread that was told of the end has finished");
    return answer.taps.map((tap, i) => (this.#own[i] ? mergeTaps(tap, this.#own[i]) : tap));
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  /** As many tensors as there is time for, and their number. */
  #takeIn({ tensors }: ObservedSample): number {
    let seen = 0;
    for (const name of this.task.taps) {
      if (Atomics.load(this.#busy, 0) === 0) break;
      observeTapped((this.#own[seen++] ??= newTap(name)), tensors);
    }
    return seen;
  }

  #ask(request: ObserverRequest, moved: readonly ArrayBuffer[]): void {
    this.#answer = new Promise((resolve, reject) => {
      this.#settle = (reply) => (reply.kind === "failed" ? reject(fromWireError(reply.error)) : resolve(reply));
    });
    // It is told when it is waited for.
    this.#answer.catch(() => undefined);
    Atomics.store(this.#busy, 0, 1);
    this.#worker.postMessage(request, moved);
  }
}
