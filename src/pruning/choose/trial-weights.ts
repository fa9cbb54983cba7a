/**
 * Weights of a reader that does without some units, fitted in closed form to what it made of all of them. For a trial:
 * how much that shows at the output of the net when nothing else is changed.
 */
import { factor, solve } from "../refit/cholesky.js";
import { centred, type Linear, type Moments } from "../refit/moments.js";
import { rowsTimesGram } from "../refit/rows-times-gram.js";

const RIDGE = 0.01;

/**
 * @param moments of all inputs of the reader, one group
 * @param keptInputs ascending
 * Null where the inputs say nothing.
 */
export function trialWeights(
  moments: Moments,
  { weights, bias }: Linear,
  keptInputs: readonly number[],
): Linear | null {
  const { inputs, outputs, rows, inputSums } = moments;
  const gram = bias ? centred(moments).gram : moments.gram;
  const count = keptInputs.length;
  const small = new Float64Array(count * count);
  let mean = 0;
  for (let k = 0; k < count; k++) {
    for (let l = 0; l < count; l++) small[k * count + l] = gram[keptInputs[k]! * inputs + keptInputs[l]!]!;
    mean += small[k * (count + 1)]! / count;
  }
  for (let k = 0; k < count; k++) small[k * (count + 1)]! += RIDGE * mean;
  const factored = factor(small, count);
  if (!factored) return null;
  // transpose(C) = W G, of the inputs that are kept.
  const right = new Float64Array(outputs * count);
  const image = new Float64Array(inputs);
  for (let o = 0; o < outputs; o++) {
    rowsTimesGram(image, weights, o * inputs, 1, inputs, gram);
    for (let k = 0; k < count; k++)
      right[o * count + k] = image[keptInputs[k]!]! + RIDGE * mean * weights[o * inputs + keptInputs[k]!]!;
  }
  const fitted = solve(factored, right, outputs);
  const shifted = bias?.map((own, o) => {
    let gone = 0;
    for (let i = 0; i < inputs; i++) gone += weights[o * inputs + i]! * inputSums[i]!;
    for (let k = 0; k < count; k++) gone -= fitted[o * count + k]! * inputSums[keptInputs[k]!]!;
    return own + gone / rows;
  });
  return { weights: fitted, bias: shifted ?? null };
}
