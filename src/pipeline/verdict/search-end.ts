/** How a search ended that put regions to float, or to dynamic integers, and found nothing within the limit on accuracy. */
import type { VerdictReason } from "../result.js";

export interface SearchEnd {
  /** That might be put so. */
  readonly regions: number;
  /** Whether some of them were to become dynamic integers in the place of float. */
  readonly mayBeDynamic: boolean;
  /** The most that were tried so. */
  readonly tried: number;
  /** As many as there would have been a gain with. */
  readonly most: number;
  /** About how many times as long the run has to take for all of it; null where there was time enough. */
  readonly longer: number | null;
}

/** Of a limit that was missed: whether more time may help. */
export function withSearchEnd(missed: VerdictReason, end: SearchEnd): VerdictReason {
  const { regions, tried, most, longer } = end;
  const inFloat = end.mayBeDynamic ? "in float or dynamic integers" : "in float";
  if (longer === null) {
    return most === 0
      ? missed
      : { ...missed, text: `${missed.text}; with up to ${most} of ${regions} regions ${inFloat} it is missed too` };
  }
  const reached =
    tried === 0 ? `before any region was tried ${inFloat}` : `at ${tried} of ${regions} regions ${inFloat}`;
  return {
    ...missed,
    text: `${missed.text}; the time to search was over ${reached}, and a model within the limit may exist`,
    longer,
  };
}

/** Of a limit that was missed by what gains nothing: with more in float it would gain less. */
export const withoutSearch = (missed: VerdictReason): VerdictReason => ({
  ...missed,
  text: `${missed.text}; no regions were put back to float, since there is no speed to give up`,
});
