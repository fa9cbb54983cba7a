/** Numerical differences of outputs, as the result tells them. */
import type { DifferenceIntervals, OutputDifference } from "../../runtime/port.js";
import type { DifferenceFacts } from "../result.js";

/** JSON has no infinity: equal outputs have no SQNR, and noise without a signal has the least there is. */
export const sqnrOrNull = (sqnrDb: number): number | null =>
  sqnrDb === Number.POSITIVE_INFINITY ? null : Math.max(sqnrDb, LEAST_SQNR_DB);

/** Below what two float32 numbers can be apart. */
const LEAST_SQNR_DB = -1000;

/** The largest number there is for an infinite one, such as the distance to an overflow. */
export const finite = (value: number): number => (value === Number.POSITIVE_INFINITY ? Number.MAX_VALUE : value);

/** As far apart as can be, where an element is NaN in one model only: what the others are says nothing then. */
export const withNaNs = (difference: OutputDifference): OutputDifference =>
  difference.nanMismatch === 0
    ? difference
    : {
        ...difference,
        ...{ maxAbs: Number.POSITIVE_INFINITY, maxRelative: Number.MAX_VALUE, rmse: Number.POSITIVE_INFINITY },
        ...{ relativeL2: Number.POSITIVE_INFINITY, sqnrDb: Number.NEGATIVE_INFINITY, cosine: 0, intervals: null },
      };

function finiteIntervals({ rmse, sqnrDb, ...rest }: DifferenceIntervals): NonNullable<DifferenceFacts["intervals"]> {
  const both = <T>([low, high]: readonly [number, number], of: (end: number) => T): readonly [T, T] => [
    of(low),
    of(high),
  ];
  return { ...rest, rmse: both(rmse, finite), sqnrDb: both(sqnrDb, sqnrOrNull) };
}

/** Outputs that could not be compared have no facts; `differenceWarnings` names them. */
export const differenceFacts = (differences: readonly OutputDifference[]): DifferenceFacts[] =>
  differences
    .filter(({ mismatch }) => mismatch === null)
    .map(withNaNs)
    .map(({ output, maxAbs, maxRelative, rmse, relativeL2, sqnrDb, cosine, argmaxAgreement, intervals }) => ({
      output,
      maxAbs: finite(maxAbs),
      maxRelative,
      rmse: finite(rmse),
      relativeL2: finite(relativeL2),
      sqnrDb: sqnrOrNull(sqnrDb),
      cosine,
      argmaxAgreement,
      ...(intervals && { intervals: finiteIntervals(intervals) }),
    }));

export const differenceWarnings = (differences: readonly OutputDifference[]): string[] =>
  differences.flatMap(({ output, mismatch, nanMismatch, nanOnBoth, elements }) => {
    if (mismatch !== null) return [`output "${output}" could not be compared: ${mismatch}`];
    const which = (count: number): string => (count === elements ? "all" : `${count} of`);
    return [
      ...(nanMismatch > 0
        ? [`output "${output}": ${which(nanMismatch)} ${elements} elements are NaN in one model only`]
        : []),
      ...(nanOnBoth > 0
        ? [`output "${output}": ${which(nanOnBoth)} ${elements} elements are NaN in both models, and count as equal`]
        : []),
    ];
  });
