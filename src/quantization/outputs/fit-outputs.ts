/**
 * What brings the answers of integers closest to the float model's: a straight line (fit-line.ts), and, for answers of one
 * row per sample, what a matrix gains besides (fit-directions.ts). Where answers are a few numbers and what their product reads is
 * told too, that says more (fit-inputs.ts).
 */
import { fitDirections } from "./fit-directions.js";
import { fitInputs } from "./fit-inputs.js";
import { fitLine, linesLeftOut } from "./fit-line.js";
import { areWorse, leftOutGainDb } from "./left-out.js";
import type { OutputLine } from "./output-line.js";
import type { PairedMoments } from "./paired-moments.js";

export interface OutputFit extends OutputLine {
  /** Expected change of the error on other samples, dB, positive is better: of what the product reads where the fit is made to that, of the answers elsewhere. */
  readonly gainDb: number;
  /** What a fit to what the product reads did for the answers of samples left out of it one at a time, dB; null of other fits. */
  readonly leftOutGainDb: number | null;
  /** Whether samples left out of the fit say that it does harm to the answers; false where none were. */
  readonly isWorse: boolean;
}

/** An expected gain of a matrix over the line that is worth having. */
const LEAST_MATRIX_DB = 0.1;

export function fitOutput(moments: PairedMoments): OutputFit {
  const { y, z, rows, inputs } = moments;
  const ofInputs = rows && inputs && fitInputs(rows, inputs);
  if (ofInputs) {
    const { leftOut, ...fit } = ofInputs;
    return { ...fit, mean: z, directions: null, leftOutGainDb: leftOutGainDb(leftOut), isWorse: areWorse(leftOut) };
  }
  const { factor, trust, gainDb } = fitLine(moments);
  const matrix = rows && fitDirections(rows, factor);
  const directions = matrix && matrix.gainDb >= LEAST_MATRIX_DB ? matrix : null;
  const shift = y.map((mean, c) => trust * (mean - z[c]!));
  const leftOut = rows && linesLeftOut(rows);
  const lineDb = leftOut ? leftOutGainDb(leftOut) : gainDb;
  return {
    ...{ factor, mean: z, shift, directions: directions?.directions ?? null, along: null },
    gainDb: lineDb + (directions?.gainDb ?? 0),
    leftOutGainDb: null,
    isWorse: leftOut !== null && areWorse(leftOut),
  };
}
