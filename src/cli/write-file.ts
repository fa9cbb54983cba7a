/** Small text files that appear whole or not at all. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { outputFailed } from "../onnx/output-file.js";

/** Replaces the file. Throws OUTPUT_FAILED. */
export function writeWhole(path: string, text: string): void {
  const beside = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(beside, text, { flush: true });
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    throw outputFailed(path, cause);
  }
}
