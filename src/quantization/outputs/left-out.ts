/** What a fit made on all samples but one does for that one: of all of them, in turn. */

export interface LeftOutErrors {
  /** Squared errors without the fit and with it, [samples]. */
  readonly before: Float64Array;
  readonly after: Float64Array;
}

/** dB, positive is better: between the mean of the samples' decibels and those of all of them together, as corrections are judged by. */
export function leftOutGainDb({ before, after }: LeftOutErrors): number {
  let [gained, allBefore, allAfter] = [0, 0, 0];
  before.forEach((own, s) => {
    const made = after[s]!;
    allBefore += own;
    allAfter += made;
    if (own > 0 && made > 0) gained += 10 * Math.log10(own / made);
  });
  const together = allBefore > 0 && allAfter > 0 ? 10 * Math.log10(allBefore / allAfter) : 0;
  return before.length === 0 ? 0 : (gained / before.length + together) / 2;
}

/**
 * Whether the errors are larger with the fit, by more than their mean is uncertain (one standard error of what the samples differ in):
 * less is no reason against a fit that is expected to help.
 */
export function areWorse({ before, after }: LeftOutErrors): boolean {
  const count = before.length;
  if (count < 2) return false;
  const gains = before.map((own, s) => own - after[s]!);
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / count;
  const variance = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / (count - 1);
  return mean < -Math.sqrt(variance / count);
}
