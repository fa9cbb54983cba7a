/** Which processors a process may run on, and by what means that is chosen. */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { delimiter, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { InferOptError } from "../base/errors.js";
import { numberRuns } from "../base/number-runs.js";
import type { SessionOptions } from "./session-options.js";

/**
 *   process   every thread of it, from its start on
 *   threads   the runtime's own threads; the one that calls it runs where it likes
 */
export type AffinityMeans = "process" | "threads";

/** `0-2,8`: ascending, as Linux writes them. null for anything else. */
export function processorsOf(text: string): readonly number[] | null {
  const found = new Set<number>();
  for (const part of text.trim().split(",")) {
    const ends = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    if (!ends) return null;
    const [from, to] = [Number(ends[1]), Number(ends[2] ?? ends[1])];
    if (to < from) return null;
    for (let processor = from; processor <= to; processor++) found.add(processor);
  }
  return [...found].sort((a, b) => a - b);
}

/** `0-2,8` of [0, 1, 2, 8]. */
export const processorText = (processors: readonly number[]): string => numberRuns(processors).join(",");

/** Those that this process may run on now; null where the system does not tell. */
export function allowedProcessors(): readonly number[] | null {
  return process.platform === "linux" ? allowedIn("/proc/self/status") : null;
}

/** Those that each thread of this process may run on; empty where the system does not tell. */
export function allowedOfThreads(): readonly (readonly number[])[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/task").flatMap((thread) => {
    const path = `/proc/self/task/${thread}/status`;
    // Threads end while one looks.
    const allowed = existsSync(path) ? allowedIn(path) : null;
    return allowed ? [allowed] : [];
  });
}

/** Threads that the runtime keeps on processors move there by themselves: on a busy machine, after the first run. */
const MOVING_MS = 2000;

/**
 * What `read` tells once all threads but the first of a session are on its processors, or else after two seconds; empty for a
 * session without any.
 */
export async function allowedOnceKept(
  { affinity, threads }: Pick<SessionOptions, "affinity" | "threads">,
  read = allowedOfThreads,
  patienceMs = MOVING_MS,
): Promise<readonly (readonly number[])[]> {
  if (!affinity) return [];
  const until = performance.now() + patienceMs;
  for (;;) {
    const allowed = read();
    const kept = allowed.filter((each) => each.join() === affinity.join());
    if (allowed.length === 0 || kept.length >= threads - 1 || performance.now() > until) return allowed;
    await setTimeout(10);
  }
}

function allowedIn(statusPath: string): readonly number[] | null {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(statusPath, "utf8"))?.[1];
  return list === undefined ? null : processorsOf(list);
}

/** The program that starts another one on some processors only; null where there is none. */
export function tasksetPath(env: NodeJS.ProcessEnv = process.env): string | null {
  if (process.platform !== "linux") return null;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "taskset")).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (denied) {
    // Not ours to run: the next one may be.
    return (denied as NodeJS.ErrnoException).code === undefined;
  }
}

/**
 * By what means a model is kept on these processors here. Throws FLAG_INVALID for processors that there are not, and
 * AFFINITY_UNAVAILABLE where nothing on this system would do it.
 */
export function affinityMeans(processors: readonly number[], threads: number): AffinityMeans {
  const allowed = allowedProcessors() ?? Array.from(cpus(), (_, i) => i);
  const missing = processors.find((processor) => !allowed.includes(processor));
  if (missing !== undefined) {
    throw new InferOptError("FLAG_INVALID", "usage", `--affinity: there is no processor ${missing} for this program`, {
      hint: `It may use ${processorText(allowed)}.`,
      fields: { flag: "--affinity", value: missing, allowed },
    });
  }
  if (tasksetPath() !== null) return "process";
  if (process.platform === "darwin") throw unavailable("macOS lets no program choose its processors", "Leave it out.");
  if (threads > 1) return "threads";
  const hint =
    process.platform === "linux" ? "Install taskset (util-linux), or take more threads." : "Take two threads or more.";
  throw unavailable("with one thread only the process itself could be kept there, and nothing here does that", hint);
}

const unavailable = (why: string, hint: string): InferOptError =>
  new InferOptError("AFFINITY_UNAVAILABLE", "runtime", `--affinity cannot be had: ${why}`, {
    hint,
    fields: { platform: process.platform },
  });

/** As the runtime takes it: one entry for each thread but the first, counted from 1. */
export const threadAffinities = (processors: readonly number[], threads: number): string =>
  Array.from({ length: threads - 1 }, () => processors.map((processor) => processor + 1).join(",")).join(";");
