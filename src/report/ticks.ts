/** Round numbers along an axis, and how they are written. */
import { significant } from "./numbers.js";

/** Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at most `most` and one. */
export function roundNumbers(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw * (1 - 1e-9))!;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // What is left beyond a dozen digits is binary arithmetic.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** These multiples of powers of ten within the range. */
export function powersOfTen(low: number, high: number, factors: readonly number[]): number[] {
  const powers = Array.from({ length: 40 }, (_, i) => 10 ** (i - 20));
  const all = powers.flatMap((power) => factors.map((factor) => Number((factor * power).toPrecision(6))));
  return all.filter((tick) => tick >= low && tick <= high);
}

/** Without the zeros at its end. */
export function tickText(value: number): string {
  const text = significant(Number(value.toPrecision(6)), 6);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
