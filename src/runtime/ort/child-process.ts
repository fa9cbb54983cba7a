/**
 * How a child process starts. It can be started before the rest of the command has been read (bundle/start.cjs does so): that it
 * loads the runtime takes longer than to read a model. So this file stands alone.
 */
import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import type { Socket } from "node:net";

/**
 * What a process does with memory that was freed.
 *   frugal  gives it back at once, at the price of taking new pages for it each time
 *   roomy   keeps as much as one run of a model frees and takes again
 *   steady  the same of what is small: blocks of the sizes of one sample after another leave holes that the next does not fit into
 *   sparing keeps what runs take again, and gives back weights that the runtime packed: a fifth of all it holds
 *   plain   as any process would, and as a model would be run elsewhere
 */
export type Allocation = "frugal" | "roomy" | "steady" | "sparing" | "plain";

/**
 * For glibc's malloc, which otherwise raises the first threshold up to 32 MB as blocks are freed, and
 * the second with it. Bytes.
 */
const allocators: Readonly<Record<Allocation, NodeJS.ProcessEnv>> = {
  frugal: { MALLOC_MMAP_THRESHOLD_: String(256 << 10) },
  roomy: { MALLOC_MMAP_THRESHOLD_: String(32 << 20), MALLOC_TRIM_THRESHOLD_: String(64 << 20) },
  steady: {
    MALLOC_MMAP_THRESHOLD_: String(4 << 20),
    MALLOC_TRIM_THRESHOLD_: String(16 << 20),
    MALLOC_ARENA_MAX: "1",
  },
  sparing: { MALLOC_MMAP_THRESHOLD_: String(512 << 10) },
  plain: {},
};

/** Runs `entry` with a channel for messages; `by`: with another program than Node, or arguments before the entry. */
export const startChild = (
  entry: string,
  allocation: Allocation,
  by: Pick<ForkOptions, "execPath" | "execArgv"> = {},
): ChildProcess =>
  fork(entry, [], {
    // None of this process: what they do to the engine the bundle sets up for itself (scripts/bundle/start.cjs).
    execArgv: [],
    ...by,
    env: { ...allocators[allocation], ...childEnvironment(process.env, allocation) },
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });

function childEnvironment(env: NodeJS.ProcessEnv, allocation: Allocation): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: certificates, NODE_OPTIONS: options, ...rest } = env;
  return {
    // Builds of the runtime record every session, to be sent to its makers: no machine's models are their business, and
    // what is timed would be timed with it.
    ORT_DISABLE_TELEMETRY: "1",
    ...rest,
    // To read all certificates of a machine takes longer than all else that Node does to start. A user's stages, which
    // run as they would elsewhere, may speak to somebody.
    ...(certificates !== undefined && allocation === "plain" && { NODE_EXTRA_CA_CERTS: certificates }),
    // Two processes cannot share an inspector's port, so its flags stay behind.
    ...(options !== undefined && {
      NODE_OPTIONS: options
        .split(/\s+/)
        .filter((option) => !/^--(inspect|debug)/.test(option))
        .join(" "),
    }),
  };
}

/** Whether the child, its channel and its pipes keep the parent's event loop alive. */
export function holdParent(child: ChildProcess, hold: boolean): void {
  const handles = [child, child.channel, child.stdout as Socket | null, child.stderr as Socket | null];
  for (const handle of handles) {
    if (hold) handle?.ref();
    else handle?.unref();
  }
}

/** One that could not be started has no process id, and to kill that would kill every process of our group. */
export function killChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill("SIGKILL");
}

interface Ahead {
  readonly child: ChildProcess;
  readonly allocation: Allocation;
  /** Nobody has to see to its end any more. */
  release(): void;
}

/** Known to both bundles that this file is part of. */
const AHEAD = Symbol.for("infer-opt.child-ahead");
const place = globalThis as { [AHEAD]?: Ahead | undefined };

/** Starts a child that the first job will find ready. It ends with this process when there is none. */
export function startAhead(entry: string, allocation: Allocation): ChildProcess {
  const child = startChild(entry, allocation);
  holdParent(child, false);
  const end = (): void => killChild(child);
  // Where it cannot start, the one that is started in its place tells why.
  child.once("error", () => undefined);
  process.once("exit", end);
  place[AHEAD] = { child, allocation, release: () => process.off("exit", end) };
  return child;
}

/** Of the child that was started ahead; null where there is none, or none any more. */
export const aheadAllocation = (): Allocation | null => place[AHEAD]?.allocation ?? null;

/** The child that was started ahead, once; null where there is none like that, or none any more. */
export function takeAhead(allocation: Allocation): ChildProcess | null {
  const ahead = place[AHEAD];
  if (ahead?.allocation !== allocation) return null;
  place[AHEAD] = undefined;
  ahead.release();
  const { child } = ahead;
  return child.connected && child.exitCode === null && child.signalCode === null ? child : null;
}
