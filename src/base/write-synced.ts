/** Small text files that are on disk when the call returns. */
import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";

/** From the start of the file, or with `a` behind its end. Throws what the system throws. */
export function writeSynced(path: string, text: string, flag: "w" | "a" = "w"): void {
  const fd = openSync(path, flag);
  try {
    writeFileSync(fd, text);
    // The option `flush` of writeFileSync does it too, but before Node 20.10 nobody reads that.
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
