/** What an observer of a run may learn, as it happens. Plain data; drawing is somebody else's business. */
export type RunEvent =
  /** A stage begins; the one before it ended. */
  | { readonly type: "stage"; readonly stage: Stage; readonly detail?: string }
  /** Samples or candidates done within the current stage. */
  | { readonly type: "progress"; readonly done: number; readonly total: number }
  /** A candidate was measured. */
  | {
      readonly type: "candidate";
      readonly candidate: string;
      readonly speedup: number | null;
      /** Whether that is of a race in turns with the original; estimated otherwise. */
      readonly isTimed: boolean;
      readonly accuracy: number | null;
    }
  /** Times of a race so far. */
  | {
      readonly type: "timing";
      /** Median of the original. */
      readonly baselineMs: number;
      /** Of the best candidate, old over new; null where the original runs alone. */
      readonly speedup: number | null;
      /** Half of the range that the middle half of the original's runs lies in, as a share of the median. */
      readonly spread: number;
    }
  /** Worth telling now, and kept in the result. */
  | { readonly type: "warning"; readonly warning: string };

export const stages = [
  "load",
  "fuse",
  "convert",
  "calibrate",
  "quantize",
  "prune",
  "recover",
  "verify",
  "profile",
  "bench",
  "write",
] as const;
export type Stage = (typeof stages)[number];

export type Observer = (event: RunEvent) => void;
