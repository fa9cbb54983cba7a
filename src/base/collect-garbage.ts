/** Gives memory back at once. The engine does so too, but waits until tens of megabytes of array buffers piled up. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// The engine frees array buffers on a thread of its own, which comes too late: what follows would take new memory
// meanwhile. Node 20 to 24 have the flag; an engine without it would print a complaint.
if (/^1[1-3]\./.test(process.versions.v8)) setFlagsFromString("--no-concurrent-array-buffer-sweeping");

type Collect = (options?: { readonly type: "minor" | "major" }) => void;

let collect: Collect | undefined;
/** Bytes of array buffers that the last collection left. */
let left = 0;

/** Collects all garbage now; some 10 ms, and more with the size of the heap. */
export function collectGarbage(): void {
  collector()?.();
  left = process.memoryUsage().arrayBuffers;
}

/**
 * The same, where array buffers have grown by more than so many bytes since. What came and went in between is young as
 * a rule, and found in a tenth of the time.
 */
export function collectPiledUp(bytes: number): void {
  const isPiledUp = (): boolean => process.memoryUsage().arrayBuffers - left > bytes;
  if (!isPiledUp()) return;
  collector()?.({ type: "minor" });
  if (isPiledUp()) collectGarbage();
}

function collector(): Collect | undefined {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    // Flags are the whole process's: where another thread took it back in between, there is a next time.
    collect =
      (globalThis.gc as Collect | undefined) ??
      (runInNewContext("typeof gc === 'function' ? gc : undefined") as Collect | undefined);
    // As it was: compiled code is kept for the flags with which it will be asked for (scripts/bundle/start.cjs).
    setFlagsFromString("--no-expose-gc");
  }
  return collect;
}
