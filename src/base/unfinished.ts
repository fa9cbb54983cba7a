/**
 * What must not outlive a run that is cut off: files half-written, folders of temporary files, processes. Each is held
 * from before it is made until it is done with. However this process ends, short of a kill, what is held then goes; a
 * thread that may be ended in the middle of anything tells the thread that would end it what it holds.
 */
import { existsSync, rmSync, statSync } from "node:fs";

/** `inode`: of the file that is ours, where another process may put one of its own in its place. */
export type Unfinished = { readonly path: string; readonly inode?: bigint } | { readonly pid: number };

/** `what` is null when it is done with. */
export interface HoldChange {
  readonly id: number;
  readonly what: Unfinished | null;
}

const held = new Map<number, Unfinished>();
let lastId = 0;
let tell: ((change: HoldChange) => void) | null = null;

/** Answers how to say that it is done with. */
export function hold(what: Unfinished): () => void {
  const id = ++lastId;
  if (held.size === 0) process.on("exit", endAll);
  held.set(id, what);
  tell?.({ id, what });
  return () => {
    if (!held.delete(id)) return;
    if (held.size === 0) process.off("exit", endAll);
    tell?.({ id, what: null });
  };
}

/** From here on every change is told. */
export function tellHolds(listener: (change: HoldChange) => void): void {
  tell = listener;
}

/** Removes files and folders, kills processes; what is gone already is no matter. */
export function end(what: Unfinished): void {
  if ("path" in what) {
    const { path, inode } = what;
    // Asked first: where a path cannot be, removing it fails too.
    if (existsSync(path) && (inode === undefined || inodeOf(path) === inode)) {
      rmSync(path, { recursive: true, force: true });
    }
    return;
  }
  try {
    process.kill(what.pid, "SIGKILL");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

/** null where there is no file. */
export const inodeOf = (path: string): bigint | null =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;

function endAll(): void {
  // Processes first: they write to the folders.
  for (const what of held.values()) if ("pid" in what) end(what);
  for (const what of held.values()) if ("path" in what) end(what);
}
