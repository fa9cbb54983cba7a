/** Small text files that a user named. */
import { statSync, writeFileSync } from "node:fs";
import { replaceFile } from "../base/replace-file.js";
import { isOpenFile, outputFailed } from "../onnx/output-file.js";

/** Replaces the file; a device, a pipe or what a process has open is written to, and stays what it is. Throws OUTPUT_FAILED. */
export function writeWhole(path: string, text: string): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && (!stats.isFile() || isOpenFile(path))) {
      // What is open may be a file that something was written to before.
      writeFileSync(path, text, { flag: "a" });
    } else replaceFile(path, text);
  } catch (cause) {
    throw outputFailed(path, cause);
  }
}
