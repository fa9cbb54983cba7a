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

/** Of ticks in a power of ten, from densest to sparsest. */
const factorsOfTen = [[1, 1.5, 2, 3, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];
const LAST_POWER = 20;

/** Round numbers from `low` to `high`, both above 0, about as far apart by their ratio: the most of them that are at most `most`, which is 1 at least. */
export function roundRatios(low: number, high: number, most: number): number[] {
  const within = (factors: readonly number[], every: number): number[] => {
    const powers = Array.from({ length: 2 * LAST_POWER + 1 }, (_, i) => i - LAST_POWER).filter(
      (at) => at % every === 0,
    );
    const all = powers.flatMap((power) => factors.map((factor) => Number((factor * 10 ** power).toPrecision(6))));
    return all.filter((tick) => tick >= low && tick <= high);
  };
  for (const factors of factorsOfTen) {
    const ticks = within(factors, 1);
    if (ticks.length <= most) return ticks;
  }
  for (let every = 2; ; every++) {
    const ticks = within([1], every);
    if (ticks.length <= most) return ticks;
  }
}

/** Without the zeros at its end. */
export function tickText(value: number): string {
  const text = significant(Number(value.toPrecision(6)), 6);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
