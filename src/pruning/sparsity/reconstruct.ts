/**
 * Zeros in the weights of a layer, and what the other weights become so that its outputs stay close to what they were:
 *
 *   min |(W - W0) X|^2 = tr (W - W0) H transpose(W - W0)     H = X transpose(X), damped
 *
 * Column after column, as in optimal brain surgeon: with H = L transpose(L) and V = L^-1, a weight of column j that becomes 0
 * adds (w_j / V_jj)^2 to the error when all columns before it make up for it as well as they can, which is
 *
 *   W[:, k] -= (w_j / V_jj) V[j, k]      for k < j
 *
 * So columns go from the last to the first, block by block, and in each block those weights whose error is the least. When all
 * zeros are known, the weights that are left take steps of conjugate gradients towards their own optimum: those of the
 * columns that went first could not answer to what went after them.
 */
import { factor, lowerInverse } from "../refit/cholesky.js";
import { chooseZeros } from "./choose-zeros.js";
import { refine } from "./refine.js";
import type { Sparsity } from "./sparsity.js";

/** One group of channels of a layer. */
export interface DenseGroup {
  readonly inputs: number;
  readonly outputs: number;
  /** [inputs, inputs], symmetric, with what keeps it from being singular on its diagonal. */
  readonly gram: Float64Array;
  /** [outputs, inputs]. */
  readonly weights: Float64Array;
}

/**
 * @param blocks of inputs, every input once: see `inputBlocks`
 * Null where H is not positive definite.
 */
export function reconstruct(group: DenseGroup, blocks: readonly Int32Array[], sparsity: Sparsity): Float64Array | null {
  const order = Int32Array.from(blocks.flatMap((block) => [...block]));
  const { inputs, outputs } = group;
  const factored = factor(inOrder(group.gram, order), inputs);
  if (!factored) return null;
  const inverse = lowerInverse(factored);
  const weights = new Float64Array(outputs * inputs);
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) weights[o * inputs + i] = group.weights[o * inputs + order[i]!]!;
  }
  let end = inputs;
  for (const block of blocks.toReversed()) {
    zeroBlock(weights, inverse, inputs, outputs, end - block.length, end, sparsity);
    end -= block.length;
  }
  const result = new Float64Array(outputs * inputs);
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) result[o * inputs + order[i]!] = weights[o * inputs + i]!;
  }
  refine(result, group);
  return result;
}

function inOrder(gram: Float64Array, order: Int32Array): Float64Array {
  const size = order.length;
  const permuted = new Float64Array(gram.length);
  for (let i = 0; i < size; i++) {
    const from = order[i]! * size;
    for (let j = 0; j < size; j++) permuted[i * size + j] = gram[from + order[j]!]!;
  }
  return permuted;
}

function zeroBlock(
  weights: Float64Array,
  inverse: Float64Array,
  inputs: number,
  outputs: number,
  from: number,
  to: number,
  sparsity: Sparsity,
): void {
  const columns = to - from;
  const merit = new Float64Array(outputs * columns);
  for (let o = 0; o < outputs; o++) {
    for (let j = from; j < to; j++) {
      merit[o * columns + j - from] = (weights[o * inputs + j]! / inverse[j * inputs + j]!) ** 2;
    }
  }
  const isZero = chooseZeros(merit, outputs, columns, sparsity);
  const errors = new Float64Array(columns);
  for (let o = 0; o < outputs; o++) {
    const row = o * inputs;
    for (let j = to - 1; j >= from; j--) {
      errors[j - from] = 0;
      if (isZero[o * columns + j - from] === 0) continue;
      const own = j * inputs;
      const error = weights[row + j]! / inverse[own + j]!;
      errors[j - from] = error;
      // What was chosen as a zero stays one, whatever goes after it.
      weights[row + j] = 0;
      for (let k = from; k < j; k++) weights[row + k]! -= error * inverse[own + k]!;
    }
    for (let j = from; j < to; j++) if (isZero[o * columns + j - from] !== 0) weights[row + j] = 0;
    subtractRows(weights, row, errors, inverse, inputs, from);
  }
}

/** weights[row..row + from) -= sum over the columns j of the block, from `from` on, of errors[j] inverse[j, 0..from); four at a time. */
function subtractRows(
  weights: Float64Array,
  row: number,
  errors: Float64Array,
  inverse: Float64Array,
  inputs: number,
  from: number,
): void {
  const some: number[] = [];
  for (let j = 0; j < errors.length; j++) if (errors[j] !== 0) some.push(j);
  for (let n = 0; n < some.length; n += 4) {
    const [a = 0, b = a, c = a, d = a] = some.slice(n, n + 4);
    const left = some.length - n;
    const [ea, eb, ec, ed] = [
      errors[a]!,
      left > 1 ? errors[b]! : 0,
      left > 2 ? errors[c]! : 0,
      left > 3 ? errors[d]! : 0,
    ];
    const [ia, ib, ic, id] = [(from + a) * inputs, (from + b) * inputs, (from + c) * inputs, (from + d) * inputs];
    for (let k = 0; k < from; k++) {
      weights[row + k]! -=
        ea * inverse[ia + k]! + eb * inverse[ib + k]! + ec * inverse[ic + k]! + ed * inverse[id + k]!;
    }
  }
}
