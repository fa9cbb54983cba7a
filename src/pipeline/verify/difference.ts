/** Numerical differences of outputs, as the result tells them. */
import { numberRuns } from "../../base/number-runs.js";
import type { DifferenceIntervals, ModelSignature, OutputDifference } from "../../runtime/port.js";
import { classOutput } from "../evaluation-data.js";
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
    .map(({ output, maxAbs, maxRelative, rmse, relativeL2, sqnrDb, cosine, argmaxAgreement, intervals, samples }) => ({
      output,
      maxAbs: finite(maxAbs),
      maxRelative,
      rmse: finite(rmse),
      relativeL2: finite(relativeL2),
      sqnrDb: sqnrOrNull(sqnrDb),
      cosine,
      argmaxAgreement,
      samples,
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

/** Metrics that the largest values of an output make, whatever becomes of the small ones. */
const BY_SIZE = new Set(["cosine", "sqnr", "mse"]);
/** Noise of a tenth of the signal, and far more of it than the whole has. */
const [FAINT_DB, FAR_DB] = [20, 10];

/** @param metric that accuracy is judged by; null where it is not */
export const faintWarnings = (differences: readonly OutputDifference[], metric: string | null): string[] =>
  metric !== null && !BY_SIZE.has(metric)
    ? []
    : differences.flatMap(({ output, faint, sqnrDb, mismatch }) => {
        if (mismatch !== null || !faint || faint.sqnrDb >= FAINT_DB || sqnrDb < faint.sqnrDb + FAR_DB) return [];
        const which = `${faint.slices.length} positions along axis ${faint.axis} (${positions(faint.slices)})`;
        return [
          `output "${output}": ${which} are far smaller than the rest, and have an SQNR of ${faint.sqnrDb.toFixed(1)} dB where the whole has ` +
            `${sqnrDb.toFixed(1)} dB, which the large values make. Where the small ones count, as scores beside boxes do, judge by a metric of your own (--metric MODULE)`,
        ];
      });

/** Metrics that look at the first output with class scores, and at no other. */
const OF_ONE_OUTPUT = new Set(["top1", "top5"]);

/**
 * Outputs that are far from the original's and that the metric does not see, or takes lightly.
 *
 * @param metric that accuracy is judged by; null where it is not
 * @param classes the output with class scores
 */
export function unseenWarnings(
  differences: readonly OutputDifference[],
  metric: string | null,
  classes: string | undefined,
): string[] {
  const far = differences.filter(({ mismatch, sqnrDb }) => mismatch === null && sqnrDb < FAINT_DB);
  const told = ({ output, sqnrDb }: OutputDifference, why: string): string =>
    `output "${output}" has an SQNR of ${sqnrDb.toFixed(1)} dB, and ${why}`;
  if (metric !== null && OF_ONE_OUTPUT.has(metric)) {
    return far
      .filter(({ output }) => output !== classes)
      .map((each) =>
        told(each, `${metric} does not look at it: judge it too by a metric of your own (--metric MODULE)`),
      );
  }
  if (metric !== "cosine") return [];
  return far
    .filter(({ elements, samples }) => elements === samples)
    .map((each) =>
      told(each, "cosine takes a single number below 1 by its absolute difference: sqnr takes it relatively"),
    );
}

/**
 * All that is worth a word.
 *
 * @param metric that accuracy is judged by; null where it is not
 * @param signature of the original
 */
export const outputWarnings = (
  differences: readonly OutputDifference[],
  metric: string | null,
  signature: Pick<ModelSignature, "outputs">,
): string[] => [
  ...differenceWarnings(differences),
  ...faintWarnings(differences, metric),
  ...unseenWarnings(differences, metric, classOutput(signature)?.name),
];

/** As "4-21, 30". */
function positions(slices: readonly number[]): string {
  const runs = numberRuns(slices);
  return runs.slice(0, MOST_RUNS).join(", ") + (runs.length > MOST_RUNS ? ", ..." : "");
}

const MOST_RUNS = 4;
