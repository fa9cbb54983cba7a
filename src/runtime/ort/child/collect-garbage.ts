/** Gives the memory of tensors back while a job goes over many samples. */
import { collectGarbage } from "../../../base/collect-garbage.js";

/** How much may pile up before it is collected. */
const ALLOWED_BYTES = 16 * 2 ** 20;

/**
 * Returns a function to call between samples. Outputs are plain array buffers, and the
 * engine lets gigabytes of them pile up before it looks: here they are collected each time
 * so much more came together, whatever is held for good.
 */
export function betweenSamples(allowedBytes = ALLOWED_BYTES): () => void {
  let held = process.memoryUsage().arrayBuffers;
  return () => {
    if (process.memoryUsage().arrayBuffers <= held + allowedBytes) return;
    collectGarbage();
    held = process.memoryUsage().arrayBuffers;
  };
}
