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

interface Examined {
  readonly pairedDifferenceInterval: unknown;
  readonly judgeAccuracy: unknown;
}

export const losses: Readonly<Record<string, unknown>>;

export function lossTrials(
  examined: Examined,
  options: { readonly sets: number; readonly samples: number; readonly loss: string; readonly seed?: number },
): Pick<LimitTrials, "met" | "missed" | "inconclusive" | "advised">;

export function limitTrials(
  examined: Examined,
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
