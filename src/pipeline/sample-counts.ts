/**
 * How many samples are worth the time that running them takes, as activations of so many elements take. Estimated,
 * and not timed: the same each time.
 */
const MS_PER_ELEMENT = 1.5e-6;

/** As many as fit a time, within bounds; the most where elements are not known (0). */
export function samplesWithin(ms: number, elements: number, least: number, most: number): number {
  return elements > 0 ? Math.min(most, Math.max(least, Math.floor(ms / (elements * MS_PER_ELEMENT)))) : most;
}

/** Samples that ranges are made of in any case: so many, and two thirds of them where a verdict is wanted soon and they take longer. */
const [LEAST_OBSERVED, MOST_OBSERVED] = [16, 24];
const OBSERVING_MS = 160;
/** The same of those that judge what was made of the others. */
const [LEAST_TRIED, MOST_TRIED] = [8, 12];
const TRYING_MS = 80;

/** Of samples for a quantization. */
export interface SampleCounts {
  readonly observed: number;
  readonly tried: number;
}

/** Where a limit is searched for, the search takes longer than they do. */
export const usualCounts: SampleCounts = { observed: MOST_OBSERVED, tried: MOST_TRIED };

/** @param elements of all activations of one sample; 0 where that is not known */
export const quickCounts = (elements: number): SampleCounts => ({
  observed: samplesWithin(OBSERVING_MS, elements, LEAST_OBSERVED, MOST_OBSERVED),
  tried: samplesWithin(TRYING_MS, elements, LEAST_TRIED, MOST_TRIED),
});
