/**
 * The weights that bring a layer closest to what it should make, given what it reads now:
 *
 *   W = argmin sum |y - W x - b|^2 + r |W - W0|^2      r = strength * mean of the Gram's diagonal
 *     = (C + r W0) (G + r I)^-1                        b = mean y - W mean x
 *
 * with G and C about the means where the layer has a bias. The ridge draws towards the weights W0 that are there: where
 * samples say nothing, nothing changes. How strong it is, other samples say: several are tried, and the one with the least
 * error on rows that were not fitted is taken; then all rows are fitted with it. Some outputs are enough to choose by, since
 * each has a problem of its own with the same Gram matrix.
 */
import { factorInPlace, solve } from "./cholesky.js";
import { areNumbers, centre, joined, type Linear, type Moments, outputVariance, squaredError } from "./moments.js";
import { linearOfOutputs, momentsOfOutputs, someOutputs } from "./some-outputs.js";

export interface Refit {
  readonly linear: Linear;
  readonly strength: number;
  /** Shares of the variance that are missed on rows that were not fitted by then, before and after; of those outputs that chose. */
  readonly before: number;
  readonly after: number;
}

/** Why a layer keeps its weights, in words. */
export interface Unfit {
  readonly reason: string;
}

/** What becomes of a layer: other weights and what they miss before and after; or why not, and what it gets all the same. */
export type LayerFit = Pick<Refit, "linear" | "before" | "after"> | (Unfit & { readonly linear?: Linear });

/** From weak to strong, the first one to begin with: neighbours are tried for as long as they are better. */
const STRENGTHS = [0.001, 0.01, 0.1, 1];
const FIRST = 1;

/** Inputs that vary less than this share of their mean square are constant but for rounding. */
const LEAST_VARIATION = 1e-9;

/**
 * Grams of wide layers are large, so few of them are held at a time.
 *
 * @param fitted of the samples that are fitted; the sums of the others are added to them on the way, where these are fitted too
 * @param others of samples that are not: they choose, and must say that it helps
 * @param start the weights that are there
 * @param areOthersKept whether the others stay unseen, since more is to be judged by them; in the end they are fitted too when absent
 */
export function refit(fitted: Moments, others: Moments, start: Linear, areOthersKept = false): Refit | Unfit {
  if (!areNumbers(fitted) || !areNumbers(others)) return { reason: "its activations hold NaN or infinities" };
  if (fitted.rows < 2 || others.rows < 1) return { reason: "too few rows of samples reach it" };
  const squares = diagonalMeans(fitted.gram, fitted);
  if (start.bias) centre(fitted);
  const problem = problemOf(fitted);
  if (problem.scales.every((scale, g) => !(scale > LEAST_VARIATION * squares[g]!)))
    return { reason: "its inputs are constant" };

  const chosen = someOutputs(fitted);
  const judges = momentsOfOutputs(others, chosen);
  const own = linearOfOutputs(start, fitted, chosen);
  const part = { ...problem, moments: momentsOfOutputs(fitted, chosen) };
  const before = squaredError(judges, own);
  const tried = new Map<number, number | null>();
  /** What is missed with a ridge of this strength; null where nothing can be solved. */
  const tryAt = (index: number): number | null => {
    if (!tried.has(index)) {
      const linear = solveAll(part, STRENGTHS[index]!, own);
      tried.set(index, linear && squaredError(judges, linear));
    }
    return tried.get(index)!;
  };
  let at = FIRST;
  for (;;) {
    const here = tryAt(at) ?? Number.POSITIVE_INFINITY;
    const next = [at + 1, at - 1].find(
      (index) => STRENGTHS[index] !== undefined && !tried.has(index) && isBetter(tryAt(index), here),
    );
    if (next === undefined) break;
    at = next;
  }
  const after = tryAt(at);
  if (after === null) return { reason: "its inputs depend on one another too closely" };
  if (!(after < before)) return { reason: "on other samples the fit is no better than the weights that are there" };
  const strength = STRENGTHS[at]!;
  const variance = outputVariance(judges);
  const share = (error: number): number => (variance > 0 ? error / variance : 0);
  const linear = solveAll(areOthersKept ? problem : withOthers(fitted, others, start), strength, start);
  if (!linear) return { reason: "its inputs depend on one another too closely" };
  return { linear, strength, before: share(before), after: share(after) };
}

/** Moments about the means where there is a bias; null where no group can be solved. */
export const ridge = (moments: Moments, strength: number, start: Linear): Linear | null =>
  solveAll(problemOf(moments), strength, start);

interface Problem {
  /** About the means where there is a bias. */
  readonly moments: Moments;
  /** Mean of the diagonal, by group. */
  readonly scales: Float64Array;
}

/** What has been chosen by may be fitted too, once it has nothing more to say. */
function withOthers(fitted: Moments, others: Moments, { bias }: Linear): Problem {
  if (bias) centre(fitted, true);
  const all = joined(fitted, others);
  if (bias) centre(all);
  return problemOf(all);
}

const problemOf = (moments: Moments): Problem => ({ moments, scales: diagonalMeans(moments.gram, moments) });

const isBetter = (error: number | null, than: number): boolean => error !== null && error < than;

/** Of each group. */
export function diagonalMeans(gram: Float64Array, { groups, inputs }: Moments): Float64Array {
  return Float64Array.from({ length: groups }, (_, g) => {
    let sum = 0;
    for (let i = 0; i < inputs; i++) sum += gram[(g * inputs + i) * inputs + i]!;
    return sum / inputs;
  });
}

/** Null where no group can be solved; a group of constant inputs keeps its weights. */
function solveAll({ moments, scales }: Problem, strength: number, start: Linear): Linear | null {
  const { groups, inputs, outputs, rows, gram, cross, inputSums, outputSums } = moments;
  const weights = start.weights.slice();
  let solved = 0;
  for (let g = 0; g < groups; g++) {
    const ridge = strength * scales[g]!;
    if (!(ridge > 0)) continue;
    const matrix = gram.slice(g * inputs * inputs, (g + 1) * inputs * inputs);
    for (let i = 0; i < inputs; i++) matrix[i * (inputs + 1)]! += ridge;
    const factored = factorInPlace(matrix, inputs);
    if (!factored) continue;
    const from = g * outputs * inputs;
    const right = cross.slice(from, from + outputs * inputs);
    for (let i = 0; i < right.length; i++) right[i]! += ridge * weights[from + i]!;
    weights.set(solve(factored, right, outputs), from);
    solved++;
  }
  if (solved === 0) return null;
  return { weights, bias: start.bias && biasFor(weights, { groups, inputs, outputs, rows, inputSums, outputSums }) };
}

/** The bias with which the means of what the layer makes are those that are wanted. */
export function biasFor(
  weights: Float64Array,
  { groups, inputs, outputs, rows, inputSums, outputSums }: Omit<Moments, "gram" | "cross" | "outputSquares">,
): Float64Array {
  const bias = new Float64Array(groups * outputs);
  for (let g = 0; g < groups; g++) {
    for (let o = g * outputs; o < (g + 1) * outputs; o++) {
      let made = 0;
      for (let i = 0; i < inputs; i++) made += weights[o * inputs + i]! * inputSums[g * inputs + i]!;
      bias[o] = (outputSums[o]! - made) / rows;
    }
  }
  return bias;
}
