/** Gives the memory of tensors back while a job goes over many samples. */

/** How much may pile up before it is collected. */
const ALLOWED_BYTES = 64 * 2 ** 20;

/**
 * Returns a function to call between samples. Outputs are plain array buffers, and the
 * engine lets gigabytes of them pile up before it looks: here they are collected each time
 * another 64 MiB came together, whatever is held for good.
 */
export function betweenSamples(): () => void {
  let allowed = process.memoryUsage().arrayBuffers + ALLOWED_BYTES;
  return () => {
    if (process.memoryUsage().arrayBuffers <= allowed) return;
    globalThis.gc?.();
    allowed = process.memoryUsage().arrayBuffers + ALLOWED_BYTES;
  };
}
