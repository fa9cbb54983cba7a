/** Small text files that appear whole or not at all. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hold } from "../base/unfinished.js";
import { outputFailed } from "../onnx/output-file.js";

/** Replaces the file; a device or a pipe is written to, and stays what it is. Throws OUTPUT_FAILED. */
export function writeWhole(path: string, text: string): void {
  const beside = `${path}.${process.pid}.partial`;
  const release = hold({ path: beside });
  try {
    const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    if (isOther) {
      writeFileSync(path, text);
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
