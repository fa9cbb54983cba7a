/** Small text files that appear whole or not at all. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { partialPath } from "../base/partial-file.js";
import { hold } from "../base/unfinished.js";
import { isOpenFile, outputFailed } from "../onnx/output-file.js";

/** Replaces the file; a device, a pipe or what a process has open is written to, and stays what it is. Throws OUTPUT_FAILED. */
export function writeWhole(path: string, text: string): void {
  const beside = partialPath(path);
  const release = hold({ path: beside });
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && (!stats.isFile() || isOpenFile(path))) {
      // What is open may be a file that something was written to before.
      writeFileSync(path, text, { flag: "a" });
      return;
    }
    writeFileSync(beside, text, { flush: true });
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw outputFailed(path, cause);
  } finally {
    release();
  }
}
