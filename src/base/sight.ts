/** Whether a process that left something behind is gone, as far as that can be known. */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/**
 * Where the number of a process means that process and no other: this start of this system, and the processes that see each
 * other (Linux; "" elsewhere). Containers share folders, and machines disks, without seeing each other's processes.
 */
export const sight = (): string => (known ??= readSight());
let known: string | undefined;

function readSight(): string {
  try {
    const place = readFileSync("/proc/sys/kernel/random/boot_id", "utf8") + readlinkSync("/proc/self/ns/pid");
    return createHash("sha256").update(place).digest("hex").slice(0, 8);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "";
  }
}

/** A number of a process, and where it means one. */
export interface SeenProcess {
  readonly pid: number;
  readonly seenBy: string;
}

/** What was written so recently by a process that may be out of sight is left alone. */
const LEAST_AGE_MS = 24 * 3_600_000;

/** Whether what that process wrote, so long ago, is nobody's any more. */
export function isAbandoned({ pid, seenBy }: SeenProcess, ageMs: number): boolean {
  if (isRunning(pid)) return false;
  return (seenBy !== "" && seenBy === sight()) || ageMs > LEAST_AGE_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
