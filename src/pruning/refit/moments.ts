import { ROWS_TOGETHER, rowsTimesGram } from "./rows-times-gram.js";

/**
 * Sums over rows of what a linear layer reads and should make: all that least squares needs, whatever the number
 * of samples. A layer of several groups of channels has a problem for each; one of a depthwise convolution has few inputs
 * and as many groups as channels.
 *
 *   gram[g]  = sum x transpose(x)   [inputs, inputs]
 *   cross[g] = sum y transpose(x)   [outputs, inputs]
 */
export interface Moments {
  readonly groups: number;
  /** Of one group: channels of the input times places of the kernel, and channels of the output. */
  readonly inputs: number;
  readonly outputs: number;
  /** Rows that were summed. */
  readonly rows: number;
  readonly gram: Float64Array;
  readonly cross: Float64Array;
  /** Sums of x, [groups, inputs], of y, [groups, outputs], and of y squared, [groups, outputs]. */
  readonly inputSums: Float64Array;
  readonly outputSums: Float64Array;
  readonly outputSquares: Float64Array;
}

/** Weights as the moments see them: [groups, outputs, inputs], and a bias [groups, outputs] where there is one. */
export interface Linear {
  readonly weights: Float64Array;
  readonly bias: Float64Array | null;
}

/** Whether every sum is a number: NaN and infinities among activations leave nothing to fit. */
export const areNumbers = ({ gram, cross, inputSums, outputSums, outputSquares }: Moments): boolean =>
  [gram, cross, inputSums, outputSums, outputSquares].every((sums) => sums.every(Number.isFinite));

/** sum over rows and outputs of (y - W x - b)^2, for all groups together. */
export function squaredError(moments: Moments, { weights, bias }: Linear): number {
  const { groups, inputs, outputs, rows, gram, cross, inputSums, outputSums, outputSquares } = moments;
  const images = new Float64Array(Math.min(outputs, ROWS_TOGETHER) * inputs);
  let total = 0;
  for (let g = 0; g < groups; g++) {
    for (let o = 0; o < outputs; o++) {
      const at = (g * outputs + o) * inputs;
      const row = o % ROWS_TOGETHER;
      const count = Math.min(ROWS_TOGETHER, outputs - o);
      if (row === 0) rowsTimesGram(images, weights, at, count, inputs, gram, g * inputs * inputs);
      let [product, sum, quadratic] = [0, 0, 0];
      for (let i = 0; i < inputs; i++) {
        const weight = weights[at + i]!;
        quadratic += weight * images[row * inputs + i]!;
        if (weight === 0) continue;
        product += weight * cross[at + i]!;
        sum += weight * inputSums[g * inputs + i]!;
      }
      const b = bias?.[g * outputs + o] ?? 0;
      const own = outputSquares[g * outputs + o]! - 2 * product + quadratic;
      total += own + b * (2 * sum + rows * b - 2 * outputSums[g * outputs + o]!);
    }
  }
  return Math.max(0, total);
}

/** sum over rows and outputs of (y - mean y)^2: the error of a layer that only knows the means. */
export function outputVariance({ groups, outputs, rows, outputSums, outputSquares }: Moments): number {
  let total = 0;
  for (let o = 0; o < groups * outputs; o++) total += outputSquares[o]! - outputSums[o]! ** 2 / rows;
  return Math.max(0, total);
}

/** The moments about the means, gram and cross: those of a layer with a bias, which takes the means over. */
export function centred(moments: Moments): Pick<Moments, "gram" | "cross"> {
  const { gram, cross } = moments;
  const copy = { ...moments, gram: gram.slice(), cross: cross.slice() };
  centre(copy);
  return copy;
}

/** Gram and cross become those about the means; with `back`, what they were before. */
export function centre(
  { groups, inputs, outputs, rows, inputSums, outputSums, gram, cross }: Moments,
  back = false,
): void {
  for (let g = 0; g < groups; g++) {
    for (let i = 0; i < inputs; i++) {
      const mean = ((back ? -1 : 1) * inputSums[g * inputs + i]!) / rows;
      for (let j = 0; j < inputs; j++) gram[(g * inputs + i) * inputs + j]! -= mean * inputSums[g * inputs + j]!;
      for (let o = 0; o < outputs; o++) cross[(g * outputs + o) * inputs + i]! -= mean * outputSums[g * outputs + o]!;
    }
  }
}

/** Of the rows of both; the sums of the first take in those of the second. */
export function joined(into: Moments, other: Moments): Moments {
  for (const part of ["gram", "cross", "inputSums", "outputSums", "outputSquares"] as const)
    for (let i = 0; i < into[part].length; i++) into[part][i]! += other[part][i]!;
  return { ...into, rows: into.rows + other.rows };
}
