/**
 * Neighbouring rows of an image are much alike: where there are many more than a fit needs, every how manyeth is taken.
 */
import { greatestCommonDivisor } from "../../base/greatest-common-divisor.js";
import { elementCount } from "../../ir/index.js";
import type { LinearLayer } from "../../pruning/refit/linear-layers.js";

/** Rows for each unknown weight of an output: more change little. */
const ROWS_PER_WEIGHT = 30;
/** Rows that a fit has at least, where there are so many: the weights of a depthwise layer are few, and every place counts. */
const LEAST_ROWS = 16_384;

/** @param dims of what the layer makes of one sample; null where that is not known */
export function rowStep(dims: readonly number[] | null, { inputs, axis, node }: LinearLayer, samples: number): number {
  if (!dims || node.op === "MatMul" || node.op === "Gemm") return 1;
  const rows = elementCount(dims.filter((_, i) => i !== axis)) * samples;
  let step = Math.floor(rows / Math.max(LEAST_ROWS, ROWS_PER_WEIGHT * inputs));
  // One that shares a factor with the width would see the same columns of every image.
  while (step > 1 && greatestCommonDivisor(step, dims.at(-1)!) > 1) step--;
  return Math.max(1, step);
}
