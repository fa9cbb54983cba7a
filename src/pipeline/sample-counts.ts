/**
 * How many samples are worth the time that running them takes, as activations of so many elements take. Estimated,
 * and not timed: the same each time.
 */
const MS_PER_ELEMENT = 1.5e-6;

/** Of one sample. */
export const sampleMs = (elements: number): number => elements * MS_PER_ELEMENT;

/** As many as fit a time, within bounds; the most where elements are not known (0). */
export function samplesWithin(ms: number, elements: number, least: number, most: number): number {
  return elements > 0 ? Math.min(most, Math.max(least, Math.floor(ms / sampleMs(elements)))) : most;
}

/** Samples that judge what was made of others: so many; two thirds of them where a verdict is wanted soon and they take longer. */
export const TRIAL_SAMPLES = 12;
const LEAST_TRIED = 8;
const TRYING_MS = 130;

/** @param elements of all activations of one sample; 0 where that is not known */
export const quickTrial = (elements: number): number => samplesWithin(TRYING_MS, elements, LEAST_TRIED, TRIAL_SAMPLES);
