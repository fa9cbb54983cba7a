/**
 * Scratch folders of runs that nobody could clean up after: killed for memory, or by the power. Such a folder holds copies of a
 * model, and temporary folders of servers are never emptied by themselves.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Where the number of a process means that process and no other: this start of this system, and the processes that see each
 * other (Linux; "" elsewhere). Containers share folders, and machines disks, without seeing each other's processes.
 */
const sight = (): string =>
  quietly(() => {
    const known = readFileSync("/proc/sys/kernel/random/boot_id", "utf8") + readlinkSync("/proc/self/ns/pid");
    return createHash("sha256").update(known).digest("hex").slice(0, 8);
  }) ?? "";

/** Its run is in the name of a scratch folder, before what makes the name its own. */
export const scratchPrefix = (pid: number, seenBy = sight()): string =>
  `infer-opt-${pid}-${seenBy}${seenBy ? "-" : ""}`;
const scratchName = /^infer-opt-(\d+)-(?:([0-9a-f]{8})-)?\w{6}$/;

/** What was written in so recently by a process that may be out of sight is left alone. */
const LEAST_AGE_MS = 24 * 3_600_000;

/** Removes those in `parent` whose process is gone. What cannot be looked at or removed is somebody else's, and stays. */
export function removeAbandoned(parent: string, now: number): void {
  const here = sight();
  for (const name of quietly(() => readdirSync(parent)) ?? []) {
    const [, digits, seenBy] = scratchName.exec(name) ?? [];
    const pid = Number(digits);
    if (!pid || isRunning(pid)) continue;
    const isSure = here !== "" && seenBy === here;
    const path = join(parent, name);
    quietly(() => {
      const { mtimeMs, uid } = statSync(path);
      if (uid !== (process.getuid?.() ?? uid)) return;
      if (isSure || now - mtimeMs > LEAST_AGE_MS) rmSync(path, { recursive: true });
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
