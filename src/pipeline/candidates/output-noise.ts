/** How far a candidate's outputs are from the float model's, by what was measured on a few samples. */
import type { OutputError, Sqnr } from "./candidate.js";

/** What was measured: SQNR in two means over the samples. */
export type MeasuredSqnr = Pick<OutputError, "sqnrDb" | "pooledDb">;

/** What comes to the last products with so little noise says nothing of that of the answers, which is their own then. */
const CLEAN_DB = 50;

/** The same of each candidate that one decision is about. */
export interface Measure {
  /** Whether it is of what the last products read, and not of the answers. */
  readonly isInner: boolean;
  /** As bad as can be for one that cannot tell. */
  of(candidate: OutputError): MeasuredSqnr;
}

export const byAnswers: Measure = { isInner: false, of: (candidate) => candidate };

const byInner: Measure = {
  isInner: true,
  of: ({ inner, sqnrDb }) => inner ?? { sqnrDb: sqnrDb === null ? null : Number.NEGATIVE_INFINITY },
};

/**
 * What tells these candidates apart best: what the last products read where all that could be measured have that, else their
 * answers. For what is done to the last products themselves the answers are to be asked.
 */
export function bestMeasure(candidates: readonly OutputError[]): Measure {
  const isTold = candidates.every(({ inner, sqnrDb }) => inner !== undefined || !Number.isFinite(sqnrDb ?? Number.NaN));
  return isTold && candidates.some(({ inner }) => inner !== undefined && inner.sqnrDb < CLEAN_DB) ? byInner : byAnswers;
}

/** Of one model, by its row of scores. */
export const sqnrOf = (row: ArrayLike<number>, energies: ArrayLike<number>): Sqnr => ({
  sqnrDb: sumOver(row, (db) => db) / row.length,
  pooledDb: pooledSqnrDb(row, energies),
});

/**
 * SQNR of all samples together, dB: their energy over that of their noise. Of several outputs a sample has the mean in dB, and
 * the energy of all.
 * @param rows of each sample, dB
 * @param energies of the float model's answers, one a sample; of no matter where all are 0, or too large for a number
 */
export function pooledSqnrDb(rows: ArrayLike<number>, energies: ArrayLike<number>): number {
  const total = sumOver(energies, (energy) => energy);
  const isKnown = total > 0 && Number.isFinite(total);
  const energyOf = (sample: number): number => (isKnown ? energies[sample]! / total : 1 / rows.length);
  return -10 * Math.log10(sumOver(rows, (db, sample) => energyOf(sample) * 10 ** (-db / 10)));
}

/**
 * Relative to the signal: between the mean of the samples' decibels, where those that fare worst
 * hardly count, and the decibels of all of them together, where the largest do. What is clipped shows on few samples, and
 * what shrinks all answers helps the small ones at the cost of the large.
 * No number where nothing could be measured, infinite where the runtime refused.
 */
export const noiseOf = ({ sqnrDb, pooledDb = sqnrDb ?? 0 }: MeasuredSqnr): number =>
  sqnrDb === null ? 0 : 10 ** (-(sqnrDb + pooledDb) / 20);

/** Positive where there is less noise after. */
export const gainDb = (before: number, after: number): number => 10 * Math.log10(before / after);

function sumOver(values: ArrayLike<number>, of: (value: number, index: number) => number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += of(values[i]!, i);
  return sum;
}
