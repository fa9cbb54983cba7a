/** Small text files that appear whole or not at all. */
import { renameSync, rmSync } from "node:fs";
import { partialPath } from "./partial-file.js";
import { hold } from "./unfinished.js";
import { writeSynced } from "./write-synced.js";

/** In one step, and on disk before it has the name: after a crash the old file is there, or the new one. Throws what the system throws. */
export function replaceFile(path: string, text: string): void {
  const beside = partialPath(path);
  const release = hold({ path: beside });
  try {
    writeSynced(beside, text);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw cause;
  } finally {
    release();
  }
}
