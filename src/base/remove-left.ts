import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isAbandoned } from "./sight.js";

/**
 * Removes what runs left in a folder that nobody could clean up after. What cannot be looked at or removed is somebody
 * else's, and stays.
 *
 * @param name of what is ours, with the groups `pid` and `seenBy`, which may be missing
 * @param now milliseconds, as file times count: where it is given, what is old enough goes too, whoever wrote it
 */
export function removeLeft(folder: string, name: RegExp, now?: number): void {
  for (const found of quietly(() => readdirSync(folder)) ?? []) {
    const { pid, seenBy = "" } = name.exec(found)?.groups ?? {};
    if (!Number(pid)) continue;
    const path = join(folder, found);
    quietly(() => {
      const { mtimeMs, uid } = statSync(path);
      const isOurs = uid === (process.getuid?.() ?? uid);
      const ageMs = now === undefined ? 0 : now - mtimeMs;
      if (isOurs && isAbandoned({ pid: Number(pid), seenBy }, ageMs)) rmSync(path, { recursive: true });
    });
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
