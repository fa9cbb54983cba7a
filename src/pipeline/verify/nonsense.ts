/**
 * Whether outputs say anything of what the original's say. No limit on accuracy makes a
 * constant, noise or NaN an answer. Float outputs only. One that is dead, among others that are not, is enough;
 * to look like noise takes all of them: a list in another order does beside its own original. Models that somebody
 * compares may differ in what their numbers mean, as one that was trained anew does, and only a dead output is none.
 */
import type { OutputDifference } from "../../runtime/port.js";
import type { VerdictReason } from "../result.js";

/** An error about as large as the signal. */
const NOISE_DB = 1;
/** Beyond it there is something of the original in them, unless the error is many times larger than the signal. */
const RELATED_COSINE = 0.3;
const HOPELESS_DB = -10;
/** How much the original's outputs differ from sample to sample where a constant is no answer, relative to their size. */
const LEAST_VARIATION = 0.01;
/** Fewer samples may be alike by chance. */
const LEAST_SAMPLES = 3;

/** On a few samples: an error as large as the outputs. */
export const isNoise = ({ sqnrDb }: { readonly sqnrDb: number | null }): boolean =>
  sqnrDb !== null && sqnrDb < NOISE_DB;

/**
 * Outputs that are nothing but NaN, the original's too, are equal to whatever else a candidate makes NaN of.
 *
 * @param seen whether the differences are of all samples
 */
export function judgeAllNaN(
  differences: readonly OutputDifference[],
  seen: "all" | "some" = "all",
): VerdictReason | null {
  const told = differences.filter(({ mismatch, elements }) => mismatch === null && elements > 0);
  if (told.length === 0 || told.some(({ nanOnBoth, elements }) => nanOnBoth < elements)) return null;
  const outputs = seen === "all" ? "all outputs" : "all outputs that were looked at";
  const text = `${outputs} are NaN, and the original's are too: there is nothing to judge by`;
  return { limit: "sense", wanted: NOISE_DB, got: null, status: "inconclusive", text };
}

/**
 * @param differences of a few samples
 * @param isFloat by the name of an output
 */
export function judgeSense(
  differences: readonly OutputDifference[],
  isFloat: (output: string) => boolean,
): VerdictReason | null {
  const empty = judgeAllNaN(differences, "some");
  if (empty) return empty;
  const told = toldFloats(differences, isFloat);
  if (told.length === 0) return null;
  const dead = deadAmong(told);
  if (dead || !told.every(isUnrelated)) return dead;
  const sqnrDb = Math.max(...told.map((each) => each.sqnrDb));
  return reason(
    finiteOrNull(sqnrDb),
    `its outputs have nothing in common with the original's (an SQNR of ${sqnrDb.toFixed(1)} dB)`,
  );
}

/** Outputs that are NaN, or the same whatever goes in, where the original's are not. Parameters as of judgeSense. */
export function judgeDead(
  differences: readonly OutputDifference[],
  isFloat: (output: string) => boolean,
): VerdictReason | null {
  return deadAmong(toldFloats(differences, isFloat));
}

function deadAmong(told: readonly OutputDifference[]): VerdictReason | null {
  const lost = told.filter(({ nanMismatch, elements }) => 2 * nanMismatch > elements);
  if (lost.length > 0) {
    return reason(null, `most of ${named(lost, told)} are NaN, and the original's are not`);
  }
  const stuck = told.filter(isStuck);
  // One number by itself, a count perhaps, may well be the same a few times.
  const dead = stuck.length === told.length ? stuck : stuck.filter(({ elements, samples }) => elements > samples);
  if (dead.length > 0) {
    const best = finiteOrNull(Math.max(...dead.map((each) => each.sqnrDb)));
    return reason(best, `${named(dead, told)} are the same for every sample, and the original's are not`);
  }
  return null;
}

const toldFloats = (
  differences: readonly OutputDifference[],
  isFloat: (output: string) => boolean,
): readonly OutputDifference[] =>
  differences.filter(({ output, mismatch, maxMagnitude }) => mismatch === null && maxMagnitude > 0 && isFloat(output));

const reason = (got: number | null, text: string): VerdictReason => ({
  limit: "sense",
  wanted: NOISE_DB,
  got,
  status: "missed",
  text,
});

const named = (some: readonly OutputDifference[], all: readonly OutputDifference[]): string =>
  some.length === all.length
    ? "its outputs"
    : `the values of its output ${some.map(({ output }) => `"${output}"`).join(", ")}`;

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

const isStuck = ({ samples, variation }: OutputDifference): boolean =>
  samples >= LEAST_SAMPLES && variation.candidate === 0 && variation.baseline >= LEAST_VARIATION;

const isUnrelated = ({ sqnrDb, cosine }: OutputDifference): boolean =>
  sqnrDb < HOPELESS_DB || (sqnrDb < NOISE_DB && !(cosine >= RELATED_COSINE));
