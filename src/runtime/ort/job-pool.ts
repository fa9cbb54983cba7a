/** The child processes of one runtime: few, kept between jobs, each given one job at a time. */
import { type Allocation, aheadAllocation } from "./child-process.js";
import { type Call, type Household, interrupted, JobProcess } from "./job-process.js";
import type { JobName, Jobs } from "./protocol.js";

export class JobPool {
  readonly #household: Household;
  readonly #idle: JobProcess[] = [];
  readonly #busy = new Set<JobProcess>();
  readonly #waiting: { readonly limit: number; readonly take: (error: Error | null) => void }[] = [];
  #stopped: Error | null = null;
  #allocation: Allocation = aheadAllocation() ?? "frugal";
  /** Jobs of the queue under way; processes given out by `own` do not count. */
  #running = 0;

  constructor(household: Household) {
    this.#household = household;
  }

  /** Ids of the processes that are alive now, for tests that kill them. */
  pids(): number[] {
    return [...this.#busy, ...this.#idle].flatMap(({ pid }) => pid ?? []);
  }

  /** Starts a process ahead of the first job. */
  warmUp(): void {
    if (this.#stopped || this.#idle.length > 0 || this.#busy.size > 0) return;
    const process = new JobProcess(this.#household, this.#allocation);
    process.start();
    this.#idle.push(process);
  }

  /**
   * A process that is not part of the queue, and runs as a model would be run elsewhere. Its jobs build on one another, so no
   * other takes its place. The caller closes it.
   */
  own(allocation: "plain" | "sparing" = "plain", affinity?: readonly number[]): JobProcess {
    this.#refuseWhenStopped();
    const process = new JobProcess(this.#household, allocation, { affinity, isReplaced: false });
    this.#busy.add(process);
    return process;
  }

  disown(process: JobProcess): void {
    this.#busy.delete(process);
  }

  /** Runs a job as soon as fewer than `limit` are running. */
  async call<J extends JobName>(call: Call<J>, limit: number): Promise<Jobs[J]["result"]> {
    const process = await this.#acquire(limit);
    try {
      return await process.call(call);
    } finally {
      this.#release(process);
    }
  }

  /**
   * Runs the parts of one job, all at a time if `limit` allows. When one fails the others
   * are killed: their results would be thrown away.
   */
  async callAll<J extends JobName>(calls: readonly Call<J>[], limit: number): Promise<Jobs[J]["result"][]> {
    const running = new Set<JobProcess>();
    let failure: Error | null = null;
    const one = async (call: Call<J>): Promise<Jobs[J]["result"]> => {
      const process = await this.#acquire(limit);
      try {
        if (failure) throw failure;
        running.add(process);
        return await process.call(call);
      } catch (error) {
        running.delete(process);
        if (!failure) {
          failure = error as Error;
          for (const other of running) other.abort(failure);
        }
        throw error;
      } finally {
        running.delete(process);
        this.#release(process);
      }
    };
    const results = await Promise.allSettled(calls.map(one));
    if (failure) throw failure;
    return results.map((result) => (result as PromiseFulfilledResult<Jobs[J]["result"]>).value);
  }

  /** Kills everything; whatever is running or waiting rejects with `error`, and so does every later job. */
  abort(error: Error): void {
    this.#stopped = error;
    for (const { take } of this.#waiting.splice(0)) take(error);
    for (const process of [...this.#busy, ...this.#idle]) process.retire(error);
  }

  /** From here on the queue's processes keep what they free: for work that runs a model many times. */
  async keepFreed(how: "roomy" | "steady"): Promise<void> {
    if (this.#allocation === how) return;
    this.#allocation = how;
    await this.dismissIdle();
  }

  /** Ends the processes that have nothing to do: their memory, and their caches, would be in the way of what follows. */
  async dismissIdle(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((process) => process.close()));
  }

  async close(): Promise<void> {
    this.#stopped ??= interrupted();
    for (const { take } of this.#waiting.splice(0)) take(this.#stopped);
    await Promise.all([...this.#busy, ...this.#idle].map((process) => process.close()));
  }

  async #acquire(limit: number): Promise<JobProcess> {
    this.#refuseWhenStopped();
    if (this.#running < limit) {
      this.#running++;
    } else {
      // Whoever releases a process counts the one that it wakes.
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push({ limit, take: (error) => (error ? reject(error) : resolve()) });
      });
    }
    const process = this.#idle.pop() ?? new JobProcess(this.#household, this.#allocation);
    this.#busy.add(process);
    return process;
  }

  #release(process: JobProcess): void {
    this.#running--;
    this.#busy.delete(process);
    this.#idle.push(process);
    while (this.#waiting[0] && this.#running < this.#waiting[0].limit) {
      this.#running++;
      this.#waiting.shift()!.take(null);
    }
  }

  #refuseWhenStopped(): void {
    if (this.#stopped) throw this.#stopped;
  }
}
