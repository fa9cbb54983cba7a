export interface LimitTrials {
  readonly met: number;
  readonly missed: number;
  readonly inconclusive: number;
  /** Inconclusive, and with the number of samples that would decide. */
  readonly advised: number;
  readonly warned: number;
  readonly follows: number;
  readonly warnsRightly: number;
}

export function limitTrials(
  examined: { readonly pairedDifferenceInterval: unknown; readonly judgeAccuracy: unknown },
  options: {
    readonly sets: number;
    readonly samples: number;
    readonly drop: number;
    readonly changed: number;
    readonly confidence: number | null;
    readonly limit?: number;
    readonly seed?: number;
  },
): LimitTrials;
