/**
 * How many regions have to be float, as expected from those numbers that were tried. The drop of the
 * metric is taken to follow the noise of the regions that are still integers, as far as the last
 * measurement lets it: noise of single regions does not add up, but what is left of it tells how
 * much lies in front.
 */

/** One number of float regions, in the order of the ranking. */
export interface TriedCount {
  readonly count: number;
  /** What the metric lost, in limits: more than 1 misses; null where it is not known. */
  readonly drop: number | null;
}

/** Share of the limit to aim at: somewhat more regions than expected meet it for certain, and the rest is won back. */
const AIMED_AT = 0.7;
/** The same between one that misses and one that meets. */
const AIMED_BETWEEN = 0.95;

export class FloatCount {
  /** Share of all noise with so many regions in float. */
  readonly #left: readonly number[];

  /** @param noise of each region alone, in the order in which they go back to float; alike where none is known */
  constructor(noise: readonly number[]) {
    const isKnown = noise.some((each) => each > 0);
    const parts = noise.map((each) => (isKnown ? each : 1));
    const all = parts.reduce((sum, each) => sum + each, 0);
    let rest = all;
    this.#left = [1, ...parts.map((each) => (rest -= each) / all)];
  }

  /** Expected to be enough, by the noise; twice as many where the drop tells nothing. */
  enough({ count, drop }: TriedCount): number {
    if (drop === null || drop <= 1) return Math.max(1, 2 * count);
    return Math.max(count + 1, this.#withNoise((AIMED_AT * this.#left[count]!) / drop));
  }

  /** Enough, should every further region gain alike: those that come first in the ranking gain more. */
  ample(missed: TriedCount): number {
    const { count, drop } = missed;
    const all = this.#left.length - 1;
    const evenly = drop !== null && drop > 1 ? Math.ceil(count + (1 - 1 / drop) * (all - count)) : all;
    return Math.max(evenly, this.enough(missed));
  }

  /**
   * Expected to be just enough; the middle where drops tell nothing. The noise says too few where single regions' adds up to
   * more than all of it, and a line between both drops too many where the first regions gain most: with `isLast` the latter is taken.
   */
  between(missed: TriedCount, met: TriedCount, isLast: boolean): number {
    const middle = (missed.count + met.count) >> 1;
    if (missed.drop === null || met.drop === null) return middle;
    const share = (missed.drop - AIMED_BETWEEN) / (missed.drop - met.drop);
    if (!(share >= 0)) return middle;
    const [most, least] = [this.#left[missed.count]!, this.#left[met.count]!];
    const byNoise = this.#withNoise(most - share * (most - least));
    const evenly = Math.ceil(missed.count + share * (met.count - missed.count));
    const count = isLast ? Math.max(byNoise, evenly) : Math.ceil((byNoise + evenly) / 2);
    return Math.max(missed.count + 1, Math.min(met.count - 1, count));
  }

  /** The fewest that leave no more than this share. */
  #withNoise(share: number): number {
    const count = this.#left.findIndex((left) => left <= share);
    return count < 0 ? this.#left.length - 1 : count;
  }
}
