import type { Correction } from "./corrections.js";

/** A correction that costs nothing when the model runs. */
export interface CorrectionFacts {
  readonly correction: Correction;
  /** Left out when it did not help. */
  readonly isKept: boolean;
  /** What it is about, in words. */
  readonly detail: string;
  /** SQNR of the outputs without and with it, on samples to judge by, at most two of which it was fitted to; null where not measured. */
  readonly beforeDb: number | null;
  readonly afterDb: number | null;
  /** The same of all samples together, in which the largest answers count most; absent where not measured. */
  readonly beforePooledDb?: number;
  readonly afterPooledDb?: number;
  /** What SQNR are of where outputs are few numbers, which tell little; absent: the outputs. */
  readonly judgedBy?: "inputs of the last products";
  /** Gain on samples left out of the fit one at a time, dB, where these decide, and samples to judge by refuse only what is no number; absent elsewhere. */
  readonly leftOutGainDb?: number;
}
