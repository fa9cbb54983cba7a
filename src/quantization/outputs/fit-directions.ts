/**
 * Where a straight line for all channels leaves noise: answers of different samples differ along few
 * directions, and what rounding adds lies along all of them. The matrix that takes the float answers
 * best from the quantized ones, with a price on how far it is from the line's factor,
 *
 *   z' = m + a (z - m) + B (z - m)      smallest |y - z'|^2 over the samples + l |B|^2
 *   B  = R^T (Z Z^T + l)^-1 Z           R: rows y - a z, Z: rows z, both about their means
 *
 * has the rank of the samples, whose Gram matrix is all there is to solve. The price is the one with the least
 * error on samples left out of the fit, one at a time (their errors follow from the fit of all).
 */
import { aboutMean, gramOf } from "./sample-rows.js";
import { symmetricEigen } from "./symmetric-eigen.js";

/** B as a sum of `count` products: of a column of `to` and a row of `from`, each of all channels. */
export interface Directions {
  readonly count: number;
  readonly to: Float64Array;
  readonly from: Float64Array;
}

export interface DirectionsFit {
  readonly directions: Directions;
  /** Expected of other samples, beyond what the line does, dB. */
  readonly gainDb: number;
}

/** Of a product whose answers are one row per sample: [samples, channels]. */
export interface PairedRows {
  readonly samples: number;
  readonly y: Float64Array;
  readonly z: Float64Array;
}

/** Prices, as shares of the mean square of a row. */
const PRICES = Array.from({ length: 13 }, (_, i) => 10 ** (i / 2 - 2));
/** Fewer samples span too little of what there is. */
const LEAST_SAMPLES = 8;

/** @returns null where the line alone does as well on samples left out */
export function fitDirections({ samples, ...rows }: PairedRows, factor: number): DirectionsFit | null {
  const channels = rows.y.length / samples;
  if (samples < LEAST_SAMPLES || channels < 2) return null;
  const z = aboutMean(rows.z, samples);
  const left = aboutMean(rows.y, samples).map((value, i) => value - factor * z[i]!);
  const [gram, errors] = [gramOf(z, z, samples), gramOf(left, left, samples)];
  let energy = 0;
  for (let s = 0; s < samples; s++) energy += gram[s * samples + s]! / samples;
  if (!(energy > 0) || !Number.isFinite(energy)) return null;
  const { values, vectors } = symmetricEigen(gram, samples);
  /** V f(D) V^T */
  const withValues = (of: (value: number) => number): Float64Array => {
    const result = new Float64Array(samples * samples);
    for (let k = 0; k < samples; k++) {
      const value = of(Math.max(0, values[k]!));
      for (let i = 0; i < samples; i++)
        for (let j = 0; j < samples; j++)
          result[i * samples + j]! += vectors[i * samples + k]! * value * vectors[j * samples + k]!;
    }
    return result;
  };
  const alone = leftOutError(
    withValues(() => 1),
    errors,
    samples,
  );
  const prices = PRICES.map((share) => share * energy);
  const found = prices.map((price) =>
    leftOutError(
      withValues((value) => price / (value + price)),
      errors,
      samples,
    ),
  );
  const least = Math.min(...found);
  if (!(least > 0 && least < alone)) return null;
  const price = prices[found.indexOf(least)]!;
  const inverse = withValues((value) => 1 / (value + price));
  const from = new Float64Array(samples * channels);
  for (let i = 0; i < samples; i++)
    for (let j = 0; j < samples; j++) {
      const weight = inverse[i * samples + j]!;
      for (let c = 0; c < channels; c++) from[i * channels + c]! += weight * z[j * channels + c]!;
    }
  return { directions: { count: samples, to: left, from }, gainDb: 10 * Math.log10(alone / least) };
}

/** Squared errors of samples when each is left out: what is left of it, over what is left of its say in its own fit. */
function leftOutError(rest: Float64Array, errors: Float64Array, samples: number): number {
  let sum = 0;
  for (let i = 0; i < samples; i++) {
    let error = 0;
    for (let j = 0; j < samples; j++)
      for (let k = 0; k < samples; k++)
        error += rest[i * samples + j]! * errors[j * samples + k]! * rest[i * samples + k]!;
    sum += error / (rest[i * samples + i]! - 1 / samples) ** 2;
  }
  return sum;
}
