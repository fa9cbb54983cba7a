/** Gives the memory of tensors back while a job goes over many samples. */
import { setFlagsFromString } from "node:v8";

/** How much may pile up before it is collected. */
const ALLOWED_BYTES = 16 * 2 ** 20;

// The engine frees array buffers on a thread of its own, which comes too late here: the next
// run would take new memory meanwhile. An engine without this flag ignores it.
setFlagsFromString("--no-concurrent-array-buffer-sweeping");

/**
 * Returns a function to call between samples. Outputs are plain array buffers, and the
 * engine lets gigabytes of them pile up before it looks: here they are collected each time
 * another 16 MiB came together, whatever is held for good.
 */
export function betweenSamples(): () => void {
  let held = process.memoryUsage().arrayBuffers;
  return () => {
    if (process.memoryUsage().arrayBuffers <= held + ALLOWED_BYTES) return;
    globalThis.gc?.();
    held = process.memoryUsage().arrayBuffers;
  };
}
