/**
 * How much each channel is scaled. Integers of one tensor share a step, which its widest
 * channel dictates; a channel scaled up until it is as wide loses less by rounding. But the
 * weights that read it shrink beside their neighbours, whose step they share:
 *
 *   error(s) = sum over readers of
 *     step(s)^2 / 12 * sum_c |w_c|^2 / s_c^2             rounding of activations
 *     + sum_o step_o(s)^2 / 12 * sum_c places * s_c^2 E[x_c^2]   rounding of weights
 *   each as a share of sum_c |w_c|^2 E[x_c^2], what the reader makes of its input
 *
 * The error is known in closed form, so a number of scalings are compared and the best is
 * taken: powers of the channels' widths (1 is cross-layer equalization) beside powers of
 * the weights' (as SmoothQuant has them), and the scaling that balances both errors in
 * each channel.
 */

/** What is known of one quantized tensor's channels. */
export interface ChannelRanges {
  /** Finite extremes: at most 0, and at least 0. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly meanSquare: Float64Array;
}

export interface ReadTensor extends ChannelRanges {
  /** Which scale each channel has. */
  readonly scaleOf: readonly number[];
}

/** A product whose weights read the channels of a tensor: [outputs][channels]. */
export interface Reader {
  readonly tensor: ReadTensor;
  readonly outputs: number;
  /** Weights that each output has for one channel: the places of a kernel. */
  readonly places: number;
  /** Sum of squares of the weights that read a channel. */
  readonly energy: Float64Array;
  /** Largest magnitude of the weights at [output * channels + channel]. */
  readonly largest: Float32Array;
}

export interface ScaleProblem {
  readonly scales: number;
  readonly isFixed: (scale: number) => boolean;
  readonly tensors: readonly ReadTensor[];
  readonly readers: readonly Reader[];
  /** Largest magnitude of a quantized weight. */
  readonly weightLimit: number;
}

export interface ScaleSolution {
  readonly scales: Float64Array;
  /** Expected error over that without scaling, as energies. */
  readonly ratio: number;
}

const activationSteps = 255;
/** Wider scales would trust a few samples too far: a channel that was nearly silent may speak up. */
const LARGEST_SCALE = 32;
const rangePowers = [0.5, 0.75, 1];
const weightPowers = [0, 0.25];
const BALANCING_ROUNDS = 3;

export function chooseScales(problem: ScaleProblem): ScaleSolution {
  const none = new Float64Array(problem.scales).fill(1);
  const before = expectedError(problem, none);
  let best: ScaleSolution = { scales: none, ratio: 1 };
  const consider = (scales: Float64Array): void => {
    const ratio = expectedError(problem, scales) / before;
    if (ratio < best.ratio) best = { scales, ratio };
  };
  const widths = widthsOf(problem);
  const weights = weightsOf(problem);
  for (const power of rangePowers) {
    for (const weightPower of weightPowers) {
      consider(settled(problem, (i) => (1 / widths[i]!) ** power * weights[i]! ** weightPower));
    }
  }
  let balanced = settled(problem, (i) => 1 / widths[i]!);
  for (let round = 0; round < BALANCING_ROUNDS; round++) {
    balanced = balance(problem, balanced, widths);
    consider(balanced);
  }
  return best;
}

/** Fixed scales are 1; the others are what they want to be, within bounds. */
function settled(problem: ScaleProblem, wanted: (scale: number) => number): Float64Array {
  const scales = Float64Array.from({ length: problem.scales }, (_, i) => (problem.isFixed(i) ? 1 : wanted(i)));
  return scales.map((scale, i) =>
    problem.isFixed(i) ? 1 : Math.min(LARGEST_SCALE, Math.max(1 / LARGEST_SCALE, scale)),
  );
}

/** Of each scale's channels, the widest, as a share of the widest of all; 1 where nothing was ever seen. */
function widthsOf({ scales, tensors }: ScaleProblem): Float64Array {
  const widths = new Float64Array(scales);
  for (const { scaleOf, low, high } of tensors) {
    scaleOf.forEach((scale, c) => {
      widths[scale] = Math.max(widths[scale]!, high[c]!, -low[c]!);
    });
  }
  return shares(widths);
}

/** The same for the weights that read them. */
function weightsOf({ scales, readers }: ScaleProblem): Float64Array {
  const weights = new Float64Array(scales);
  for (const { tensor, outputs, largest } of readers) {
    const channels = tensor.scaleOf.length;
    for (let o = 0; o < outputs; o++) {
      tensor.scaleOf.forEach((scale, c) => {
        weights[scale] = Math.max(weights[scale]!, largest[o * channels + c]!);
      });
    }
  }
  return shares(weights);
}

function shares(values: Float64Array): Float64Array {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return values.map((value) => (value > 0 ? Math.max(value / most, 1 / LARGEST_SCALE) : 1));
}

function expectedError(problem: ScaleProblem, scales: Float64Array): number {
  const noise = roundingNoise(problem, scales);
  let error = 0;
  for (const reader of problem.readers) {
    const { byWeight, signal } = costsOf(problem, reader, scales);
    if (!(signal > 0)) continue;
    const { scaleOf } = reader.tensor;
    let sum = 0;
    for (let c = 0; c < scaleOf.length; c++) {
      const square = scales[scaleOf[c]!]! ** 2;
      sum += (noise * reader.energy[c]!) / square + byWeight[c]! * square;
    }
    error += sum / signal;
  }
  return error;
}

/** Energy that rounding adds to each element: of every quantized tensor on the way, since sums pass on what they get. */
function roundingNoise({ tensors }: ScaleProblem, scales: Float64Array): number {
  let noise = 0;
  for (const { scaleOf, low, high } of tensors) {
    let [lowest, highest] = [0, 0];
    scaleOf.forEach((scale, c) => {
      lowest = Math.min(lowest, low[c]! * scales[scale]!);
      highest = Math.max(highest, high[c]! * scales[scale]!);
    });
    noise += ((highest - lowest) / activationSteps) ** 2 / 12;
  }
  return noise;
}

/** What s^2 costs by channel, and the energy of what the reader makes. */
function costsOf({ weightLimit }: ScaleProblem, reader: Reader, scales: Float64Array) {
  const { tensor, places, energy } = reader;
  const steps = stepsOf(reader, scales, weightLimit);
  let signal = 0;
  const byWeight = tensor.meanSquare.map((square, c) => {
    signal += energy[c]! * square;
    return steps * places * square;
  });
  return { byWeight, signal };
}

/** Squared errors of rounding one weight of each output, added up. A loop with nothing behind it stays in the code that the engine made of it. */
function stepsOf({ tensor: { scaleOf }, outputs, largest }: Reader, scales: Float64Array, weightLimit: number): number {
  const channels = scaleOf.length;
  const shrunk = Float64Array.from(scaleOf, (scale) => 1 / scales[scale]!);
  let steps = 0;
  for (let o = 0, at = 0; o < outputs; o++) {
    let most = 0;
    for (let c = 0; c < channels; c++, at++) {
      const magnitude = largest[at]! * shrunk[c]!;
      if (magnitude > most) most = magnitude;
    }
    steps += (most / weightLimit) ** 2 / 12;
  }
  return steps;
}

/** Scales at which both errors of a channel are equal, or its width fills the tensor's, given everybody's steps. */
function balance(problem: ScaleProblem, scales: Float64Array, widths: Float64Array): Float64Array {
  const noise = roundingNoise(problem, scales);
  const activation = new Float64Array(problem.scales);
  const weight = new Float64Array(problem.scales);
  for (const reader of problem.readers) {
    const { byWeight, signal } = costsOf(problem, reader, scales);
    if (!(signal > 0)) continue;
    reader.tensor.scaleOf.forEach((scale, c) => {
      activation[scale]! += (noise * reader.energy[c]!) / signal;
      weight[scale]! += byWeight[c]! / signal;
    });
  }
  return settled(problem, (i) => {
    const widest = 1 / widths[i]!;
    return weight[i]! > 0 && activation[i]! > 0 ? Math.min(widest, (activation[i]! / weight[i]!) ** 0.25) : 1;
  });
}
