/** Which candidates are measured in one process, side by side. */
import type { Candidate } from "./candidate.js";

/**
 * Models are loaded several at a time, in as many processes as there are workers. Loaded,
 * a model takes about four times its file: weights, packed weights and activations.
 */
const LOADED_BYTES = 64 << 20;
const LARGEST_BATCH = 6;

/** Groups that may be loaded together, in order; one at least in each. */
export function loadedTogether<Sized extends { readonly built: Pick<Candidate["built"], "bytes"> }>(
  candidates: readonly Sized[],
): Sized[][] {
  const batches: Sized[][] = [];
  let bytes = 0;
  for (const candidate of candidates) {
    const batch = batches.at(-1);
    bytes += candidate.built.bytes;
    if (batch && batch.length < LARGEST_BATCH && 4 * bytes <= LOADED_BYTES) batch.push(candidate);
    else {
      batches.push([candidate]);
      bytes = candidate.built.bytes;
    }
  }
  return batches;
}
