/**
 * Scratch folders of runs that nobody could clean up after: killed for memory, or by the power. Such a folder holds copies of a
 * model, and temporary folders of servers are never emptied by themselves.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Its run is in the name of a scratch folder, before what makes the name its own. */
export const scratchPrefix = (pid: number): string => `infer-opt-${pid}-`;
const scratchName = /^infer-opt-(\d+)-\w{6}$/;

/** Containers may share the folder without seeing each other's processes: what was written in so recently is left alone. */
const LEAST_AGE_MS = 24 * 3_600_000;

/** Removes those in `parent` whose process is gone. What cannot be looked at or removed is somebody else's, and stays. */
export function removeAbandoned(parent: string, now: number): void {
  for (const name of quietly(() => readdirSync(parent)) ?? []) {
    const pid = Number(scratchName.exec(name)?.[1]);
    if (!pid || isRunning(pid)) continue;
    const path = join(parent, name);
    quietly(() => {
      const { mtimeMs, uid } = statSync(path);
      if (uid === (process.getuid?.() ?? uid) && now - mtimeMs > LEAST_AGE_MS) rmSync(path, { recursive: true });
    });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** null where the system refuses: another run may be removing the same, and none of it is what the user asked for. */
function quietly<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}
