/** Which processes there are, as Linux tells. */
import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes that a process started. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => parentOf(id) === pid);
}

/** The id of its parent; null when the process is gone. */
export function parentOf(pid: number): number | null {
  try {
    // "pid (name) state parent": the name may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[0] === "Z" ? null : Number(fields[1]);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause) return null;
    throw cause;
  }
}
