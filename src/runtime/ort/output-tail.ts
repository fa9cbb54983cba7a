/** The last few kilobytes that a process printed. */
import type { Readable } from "node:stream";

const KEEP_BYTES = 4096;

/** Keeps the end of what native code prints, for error messages; nobody else gets to see it. */
export class OutputTail {
  #kept = Buffer.alloc(0);

  listen(stream: Readable): void {
    stream.on("data", (chunk: Buffer) => {
      const joined = Buffer.concat([this.#kept, chunk]);
      this.#kept = joined.subarray(Math.max(0, joined.length - KEEP_BYTES));
    });
  }

  text(): string {
    return this.#kept.toString("utf8").trim();
  }
}
