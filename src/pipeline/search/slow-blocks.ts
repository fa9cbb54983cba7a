/** What to tell of 4-bit weights whose kernel is slower than float: whoever asked for few bits may not want that. */
import type { Candidate } from "../candidates/candidate.js";
import type { LatencyMeasure } from "../verdict/verdict.js";

/** Null where there are none, or where they are not slower beyond the noise. */
export function slowBlocks({ built }: Pick<Candidate, "built">, latency: LatencyMeasure | null): string | null {
  const nodes = [...built.forms.values()].filter((form) => form === "weights4").length;
  const { speedup, speedupInterval } = latency?.facts ?? {};
  if (nodes === 0 || !speedup || !speedupInterval || speedupInterval[1] >= 1) return null;
  return `weights of 4 bits run at ${speedup.toFixed(2)}x the original's speed here: their kernel pays on large matrices only; --bits 8 has none of that cost`;
}
