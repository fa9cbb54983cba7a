/**
 * Sparse weights of one layer. It reads what the net gives it that is sparse up to there, and is to make what it made in the
 * original: dense weights are fitted to that first, zeros come in where they are missed least, and the weights that are left
 * make up for them. Zeros in place of the smallest weights are what it must beat on samples that were not fitted.
 */
import type { LinearLayer } from "../refit/linear-layers.js";
import { areNumbers, centred, type Linear, type Moments, outputVariance, squaredError } from "../refit/moments.js";
import { biasFor, diagonalMeans, type LayerFit, refit, ridge } from "../refit/ridge.js";
import { byMagnitude } from "./by-magnitude.js";
import { inputBlocks } from "./input-blocks.js";
import { reconstruct } from "./reconstruct.js";
import type { Sparsity } from "./sparsity.js";

/** Share of the mean of the diagonal that is added to it, where no fit has found a better one. */
const DAMPING = 0.01;

export function sparseFit(
  layer: LinearLayer,
  sparsity: Sparsity,
  fitted: Moments,
  others: Moments,
  start: Linear,
): LayerFit {
  const magnitude = byMagnitude(start, layer, sparsity);
  const asIs = (reason: string): LayerFit => ({ reason: `zeros by magnitude: ${reason}`, linear: magnitude });
  if (!areNumbers(fitted) || !areNumbers(others)) return asIs("its activations hold NaN or infinities");
  // A fit may make use of the sums that it is given.
  const dense = refit(copyOf(fitted), others, start);
  const strength = "reason" in dense ? null : dense.strength;
  // Of the samples that are fitted alone: the others say how good it is.
  const own =
    strength === null ? null : ridge(start.bias ? { ...fitted, ...centred(fitted) } : fitted, strength, start);
  const linear = reconstructAll(layer, sparsity, fitted, own ?? start, strength ?? DAMPING);
  if (!linear) return asIs("its inputs depend on one another too closely");
  const variance = outputVariance(others);
  const missed = (zeroed: Linear): number => (variance > 0 ? squaredError(others, zeroed) / variance : 0);
  const [before, after] = [missed(magnitude), missed(linear)];
  return after < before ? { linear, before, after } : asIs("on other samples nothing is closer");
}

/** Null where a group of channels cannot be solved. */
function reconstructAll(
  { groups, inputs, outputs, places }: LinearLayer,
  sparsity: Sparsity,
  moments: Moments,
  { weights, bias }: Linear,
  strength: number,
): Linear | null {
  const gram = bias ? centred(moments).gram : moments.gram;
  const scales = diagonalMeans(gram, moments);
  const blocks = inputBlocks(inputs, places, sparsity);
  const sparse = new Float64Array(weights.length);
  for (let g = 0; g < groups; g++) {
    const own = gram.slice(g * inputs * inputs, (g + 1) * inputs * inputs);
    for (let i = 0; i < inputs; i++) own[i * (inputs + 1)]! += strength * scales[g]!;
    const from = g * outputs * inputs;
    const part = weights.subarray(from, from + outputs * inputs);
    const made = reconstruct({ inputs, outputs, gram: own, weights: part }, blocks, sparsity);
    if (!made) return null;
    sparse.set(made, from);
  }
  return { weights: sparse, bias: bias && biasFor(sparse, moments) };
}

const copyOf = (moments: Moments): Moments => ({
  ...moments,
  gram: moments.gram.slice(),
  cross: moments.cross.slice(),
  inputSums: moments.inputSums.slice(),
  outputSums: moments.outputSums.slice(),
  outputSquares: moments.outputSquares.slice(),
});
