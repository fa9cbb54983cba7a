/** Small text files that appear whole or not at all. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { partialPath } from "./partial-file.js";
import { hold } from "./unfinished.js";

/** In one step, and on disk before it has the name: after a crash the old file is there, or the new one. Throws what the system throws. */
export function replaceFile(path: string, text: string): void {
  const beside = partialPath(path);
  const release = hold({ path: beside });
  try {
    writeFileSync(beside, text, { flush: true });
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw cause;
  } finally {
    release();
  }
}
