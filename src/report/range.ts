/** Where values stand along an axis: evenly, by their ratio, or evenly up to a bend and by their ratio in the tail behind it. */
import { roundNumbers, roundRatios } from "./ticks.js";

export interface Range {
  readonly low: number;
  readonly high: number;
  /** Equal ratios are equally far apart; of positive values only. */
  readonly isLogarithmic?: boolean;
  /** From `at`, positive and within the range, equal ratios are equally far apart; below it, on `share` of the axis, equal differences. */
  readonly bend?: { readonly at: number; readonly share: number };
}

/** Where in the range a value lies, 0 to 1 within it. */
export function share(value: number, { low, high, isLogarithmic, bend }: Range): number {
  if (!(high > low)) return 0.5;
  if (bend)
    return value <= bend.at
      ? (bend.share * (value - low)) / (bend.at - low)
      : bend.share + ((1 - bend.share) * Math.log(value / bend.at)) / Math.log(high / bend.at);
  return isLogarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** The value that lies there. */
export function valueAt(part: number, { low, high, isLogarithmic, bend }: Range): number {
  if (bend)
    return part <= bend.share
      ? low + ((bend.at - low) * part) / bend.share
      : bend.at * (high / bend.at) ** ((part - bend.share) / (1 - bend.share));
  return isLogarithmic ? low * (high / low) ** part : low + (high - low) * part;
}

/** Round numbers in the range, about `most` of them. */
export function ticksOf({ low, high, isLogarithmic, bend }: Range, most: number): number[] {
  if (!(high > low)) return [low];
  if (!bend) return isLogarithmic ? roundRatios(low, high, most) : roundNumbers(low, high, most);
  const body = roundNumbers(low, bend.at, Math.max(2, Math.round(most * bend.share)));
  const tail = roundRatios(bend.at, high, Math.max(2, Math.round(most * (1 - bend.share))));
  return [...new Set([...body, ...tail])];
}

/** A little room on either side; a width of its own where there is only one value. */
export function rangeOf(values: readonly number[], room = 0.04): Range {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const extra = high > low ? (high - low) * room : Math.abs(low) * 0.1 || 1;
  return { low: low - extra, high: high + extra };
}
