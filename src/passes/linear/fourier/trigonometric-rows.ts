/** Weights that are the cosines and sines of a windowed transform. */
import { circle } from "./transform.js";

/** Real and imaginary parts of bins 0, 1, 2 and so on. */
export interface TrigonometricRows {
  /** What each place is multiplied by. */
  readonly window: Float64Array;
  /** 1 where imaginary parts are those of a transform forwards, -1 where they are their negatives. */
  readonly sign: 1 | -1;
}

type Wave = "cosine" | "sine";

/** Of the largest weight: float32 is as exact, and those who made them were. */
const MOST_OFF = 2e-6;

/** Rows of `length` weights each, as many of cosines as of sines; null where they are anything else. */
export function trigonometricRows(
  cosines: ArrayLike<number>,
  sines: ArrayLike<number>,
  length: number,
): TrigonometricRows | null {
  const window = windowOf(cosines, length, "cosine");
  const other = window && windowOf(sines, length, "sine");
  if (!window || !other || cosines.length !== sines.length) return null;
  const largest = largestOf(window);
  const isOff = (sign: 1 | -1): boolean =>
    other.some((value, n) => Number.isFinite(value) && Math.abs(value + sign * window[n]!) > MOST_OFF * largest);
  const sign = ([1, -1] as const).find((each) => !isOff(each));
  return sign ? { window, sign } : null;
}

/** Whether each place counts alike. */
export const isEvenWindow = ({ window }: TrigonometricRows): boolean =>
  window.every((value) => Math.abs(value - window[0]!) <= MOST_OFF * Math.abs(window[0]!));

/** What rows are multiples of, place by place, by least squares; NaN where a wave has no place that tells; null where they are not. */
export function windowOf(rows: ArrayLike<number>, length: number, wave: Wave): Float64Array | null {
  const table = circle(length)[wave];
  const window = new Float64Array(length);
  const squares = new Float64Array(length);
  for (let at = 0; at < rows.length; at++) {
    const n = at % length;
    const factor = table[(Math.floor(at / length) * n) % length]!;
    window[n]! += rows[at]! * factor;
    squares[n]! += factor * factor;
  }
  for (let n = 0; n < length; n++) window[n] = squares[n]! > 0.5 ? window[n]! / squares[n]! : Number.NaN;
  const largest = largestOf(window);
  for (let at = 0; at < rows.length; at++) {
    const n = at % length;
    const factor = table[(Math.floor(at / length) * n) % length]!;
    const wanted = Number.isNaN(window[n]!) ? 0 : window[n]! * factor;
    if (!(Math.abs(rows[at]! - wanted) <= MOST_OFF * largest)) return null;
  }
  return largest > 0 ? window : null;
}

const largestOf = (values: Float64Array): number =>
  values.reduce((most, value) => (Number.isNaN(value) ? most : Math.max(most, Math.abs(value))), 0);
