/**
 * One child process that runs jobs, one at a time. The child starts with its first
 * job and, where jobs stand alone, is replaced by the next job after it died; while it has
 * nothing to do it does not keep the parent alive.
 */
import type { ChildProcess, ForkOptions } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { InferOptError, invariant, messageOf } from "../../base/errors.js";
import { hold } from "../../base/unfinished.js";
import { isSystemError, linkMark } from "../../onnx/index.js";
import { processorText, tasksetPath } from "../affinity.js";
import type { ProviderFallback, SessionOptions } from "../port.js";
import { type Allocation, holdParent, killChild, startChild, takeAhead } from "./child-process.js";
import { jobWords } from "./job-words.js";
import { OutputTail } from "./output-tail.js";
import type { JobName, Jobs, Reply, Request } from "./protocol.js";
import type { ResidentSum } from "./resident-size.js";
import { fromWireError } from "./wire-error.js";

/** What all processes of one runtime share. */
export interface Household {
  readonly memory: ResidentSum;
  fellBack(fallback: ProviderFallback): void;
  /** What is thrown in place of an error of a job. */
  told(error: unknown): unknown;
}

export interface Call<J extends JobName> {
  readonly job: J;
  readonly args: Jobs[J]["args"];
  /** The model that errors name. */
  readonly model: string;
  /** Time without a message from the child after which it is killed. */
  readonly timeoutMs: number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

interface Pending {
  readonly call: Call<JobName>;
  readonly id: number;
  readonly resolve: (result: Jobs[JobName]["result"]) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
  /** What the job itself said it would take at most, and what for; null where it said nothing. */
  dueMs: number | null;
  doing: string | null;
}

/**
 * A terminal sends these to every process of a run, and one that has only just started dies of them: often before the parent
 * has heard that the run is interrupted.
 */
const terminalSignals: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGHUP"]);
/** Within this processes are taken to have been stopped by the same hand. */
const STOPPED_TOGETHER_MS = 300;

export class JobProcess {
  readonly #household: Household;
  readonly #allocation: Allocation;
  readonly #affinity: readonly number[] | undefined;
  readonly #isReplaced: boolean;
  #child: ChildProcess | null = null;
  #output = new OutputTail();
  /** How the last process ended, where none took its place. */
  #end: { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null } | null = null;
  #pending: Pending | null = null;
  #retired: Error | null = null;
  #lastId = 0;

  /**
   * `affinity`: processors that it is kept on from its start, where the system has a program for that. `isReplaced`: whether the
   * next job may go to a new process when this one is dead, knowing nothing of the jobs before.
   */
  constructor(
    household: Household,
    allocation: Allocation,
    {
      affinity,
      isReplaced = true,
    }: { readonly affinity?: readonly number[] | undefined; readonly isReplaced?: boolean } = {},
  ) {
    this.#household = household;
    this.#allocation = allocation;
    this.#affinity = affinity;
    this.#isReplaced = isReplaced;
  }

  /** The process id, while there is a process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process, so that the first job finds it ready. */
  start(): void {
    if (this.#retired || this.#child) return;
    try {
      this.#child = this.#start();
      holdParent(this.#child, false);
    } catch (cause) {
      // The job that wants one tells why.
      if (!(cause instanceof InferOptError)) throw cause;
    }
  }

  /**
   * Runs a job. Rejects with the child's own InferOptError, or with RUNTIME_CRASHED or
   * RUNTIME_TIMEOUT (kind runtime) when the process died or was silent for too long.
   */
  async call<J extends JobName>(call: Call<J>): Promise<Jobs[J]["result"]> {
    if (this.#retired) throw this.#retired;
    invariant(this.#pending === null, "a job process runs one job at a time");
    const end = this.#isReplaced ? null : this.#end;
    const child = end ? null : (this.#child ??= this.#start());
    const id = ++this.#lastId;
    const promise = new Promise<Jobs[J]["result"]>((resolve, reject) => {
      const timer = setTimeout(() => this.#timedOut(), call.timeoutMs);
      this.#pending = { call, id, resolve, reject, timer, dueMs: null, doing: null } as unknown as Pending;
    });
    if (child) {
      holdParent(child, true);
      const request: Request<J> = { id, job: call.job, args: call.args, links: linkMark() };
      // A failed send means that the child is gone; its end is what gets reported. One that could not be started for want of
      // files has no channel, and no way to send: that it has not started is reported in a moment.
      (child as Partial<ChildProcess>).send?.(request, () => undefined);
    } else this.#died(end!.exitCode, end!.signal);
    return promise.catch((error: unknown) => {
      throw this.#household.told(error);
    });
  }

  /** As `abort`, and for good: later jobs reject with `error` too. */
  retire(error: Error): void {
    this.#retired = error;
    this.abort(error);
  }

  /** Kills the process; a job under way rejects with `error`, the next one gets a new process. */
  abort(error: Error): void {
    const child = this.#abandon();
    if (child) killChild(child);
    this.#settle((pending) => pending.reject(error));
  }

  /** Ends the process and waits until it is gone. A job under way is given up as interrupted. */
  async close(): Promise<void> {
    this.#retired ??= interrupted();
    if (this.#pending) this.abort(this.#retired);
    const child = this.#abandon();
    if (!child) return;
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    holdParent(child, true);
    // It is idle and holds nothing that needs care.
    killChild(child);
    await gone;
  }

  #start(): ChildProcess {
    this.#household.memory.started();
    const child = takeAhead(this.#allocation) ?? startedOrTold(this.#allocation, this.#affinity);
    const gone = child.pid === undefined ? () => undefined : hold({ pid: child.pid });
    const output = new OutputTail();
    if (child.stdout) output.listen(child.stdout);
    if (child.stderr) output.listen(child.stderr);
    this.#output = output;
    child.on("message", (reply: Reply) => {
      if (this.#child === child) this.#received(reply);
    });
    child.once("error", (cause) => {
      if (this.#child === child) this.#failedToStart(cause);
    });
    // "close" and not "exit": only then has all that it printed arrived.
    child.once("close", (exitCode, signal) => {
      gone();
      this.#household.memory.ended(child);
      if (this.#child === child) this.#died(exitCode, signal);
    });
    return child;
  }

  #received(reply: Reply): void {
    const pending = this.#pending;
    if (pending?.id !== reply.id) return;
    if (reply.kind === "due") {
      this.#expectWithin(pending, reply.withinMs);
      pending.doing = reply.doing;
      return;
    }
    if (reply.kind === "progress") {
      if (pending.dueMs === null) pending.timer.refresh();
      else this.#expectWithin(pending, null);
      pending.doing = null;
      pending.call.onProgress?.(reply.done, reply.total);
      return;
    }
    if (this.#child) {
      this.#household.memory.update(this.#child, reply.peakRssBytes);
      holdParent(this.#child, false);
    }
    reply.fallbacks.forEach((fallback) => {
      this.#household.fellBack(fallback);
    });
    this.#settle(({ resolve, reject }) =>
      reply.kind === "done" ? resolve(reply.result) : reject(fromWireError(reply.error)),
    );
  }

  /** @param dueMs null: as long as the call allows, from now on */
  #expectWithin(pending: Pending, dueMs: number | null): void {
    clearTimeout(pending.timer);
    pending.dueMs = dueMs;
    pending.timer = setTimeout(() => this.#timedOut(), Math.min(dueMs ?? Infinity, pending.call.timeoutMs));
  }

  #timedOut(): void {
    if (!this.#pending) return;
    const { call, dueMs, doing } = this.#pending;
    const timeoutMs = Math.min(dueMs ?? Infinity, call.timeoutMs);
    const seconds = Math.round(timeoutMs / 100) / 10;
    this.abort(
      new InferOptError(
        "RUNTIME_TIMEOUT",
        "runtime",
        `${doingWhat(call)} was silent for ${seconds} s and was stopped`,
        {
          hint: "Allow more time, or try a smaller input: a run may be stuck in a loop of the model.",
          fields: {
            ...{ job: call.job, model: call.model, timeoutMs, isOverdue: dueMs !== null, doing },
            output: this.#output.text(),
          },
        },
      ),
    );
  }

  #died(exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#child = null;
    this.#end = { exitCode, signal };
    const pending = this.#pending;
    // Nobody waited for it.
    if (!pending) return;
    // Whoever stops a service sends it to all processes of a run: then this one hears of it in a moment.
    if (signal === "SIGTERM")
      setTimeout(() => this.#pending === pending && this.#ended(exitCode, signal), STOPPED_TOGETHER_MS);
    else this.#ended(exitCode, signal);
  }

  #ended(exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#settle(({ call, doing, reject }) => {
      if (signal && terminalSignals.has(signal)) return reject(interrupted());
      const how = signal ? `signal ${signal}` : `exit code ${exitCode}`;
      reject(
        new InferOptError("RUNTIME_CRASHED", "runtime", `ONNX Runtime crashed while ${doingWhat(call)} (${how})`, {
          hint:
            signal === "SIGKILL"
              ? "The system may have run out of memory: try smaller inputs, or where there is more of it."
              : whatElse(sessionOf(call)),
          fields: { job: call.job, model: call.model, signal, exitCode, doing, output: this.#output.text() },
        }),
      );
    });
  }

  #failedToStart(cause: Error): void {
    this.#child = null;
    this.#settle(({ reject }) => reject(startFailed(cause)));
  }

  #settle(how: (pending: Pending) => void): void {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = null;
    clearTimeout(pending.timer);
    how(pending);
  }

  /** From here on the process is no longer ours to hear from. */
  #abandon(): ChildProcess | null {
    const child = this.#child;
    this.#child = null;
    return child;
  }
}

const doingWhat = ({ job, model }: Call<JobName>): string => `${jobWords[job]} ${basename(model)}`;

const sessionOf = ({ args }: Call<JobName>): SessionOptions | null => ("session" in args ? args.session : null);

/** What may help where the runtime died by itself. */
function whatElse(session: SessionOptions | null): string {
  const isElsewhere = session !== null && session.provider !== "cpu";
  const bug = isElsewhere
    ? "Try --provider cpu; if it persists, the model hits a bug of the runtime."
    : "The model hits a bug of the runtime: try another version of it.";
  if (session?.optimization !== "all") return bug;
  return `${bug} Where it opens with a lower graphOptimizationLevel (extended, basic, disabled), a rewrite of the runtime's own is to blame.`;
}

export const interrupted = (): InferOptError =>
  new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted");

const startFailed = (cause: unknown): InferOptError =>
  new InferOptError("RUNTIME_START_FAILED", "runtime", `no process could be started: ${messageOf(cause)}`, {
    hint: "Check the limits on processes, open files and memory of this account.",
    cause,
  });

/** Throws RUNTIME_START_FAILED for what the system refuses at once; most it refuses a moment later, by an event. */
function startedOrTold(allocation: Allocation, affinity: readonly number[] | undefined): ChildProcess {
  try {
    return startChild(childEntry(), allocation, startOn(affinity));
  } catch (cause) {
    throw isSystemError(cause) ? startFailed(cause) : cause;
  }
}

/** taskset becomes the program that it is given: the process and its channel are the same. */
function startOn(affinity: readonly number[] | undefined): Pick<ForkOptions, "execPath" | "execArgv"> {
  const taskset = affinity && tasksetPath();
  if (!affinity || !taskset) return {};
  return { execPath: taskset, execArgv: ["-c", processorText(affinity), process.execPath] };
}

/**
 * Compiled, also when this file runs from src/ (under a test runner): a fork knows no TypeScript.
 * In the bundle of the command (scripts/build.mjs) this file is part of a larger one, beside that of the child.
 */
function childEntry(): string {
  const here = import.meta.url;
  if (!/\/job-process\.[jt]s$/.test(here)) return fileURLToPath(new URL("./start-child.cjs", here));
  const base = here.endsWith(".ts") ? here.replace(/\/src\/runtime\/ort\/[^/]+$/, "/dist/runtime/ort/") : here;
  return fileURLToPath(new URL("./child/main.js", base));
}
