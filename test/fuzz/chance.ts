/** Choices made by a seed. */
import { type Random, seededRandom } from "../../src/base/random.js";

export class Chance {
  readonly random: Random;
  constructor(seed: number) {
    this.random = seededRandom(seed);
    // Seeds that follow each other should not give like series.
    for (let i = 0; i < 4; i++) this.random.next();
  }
  below(bound: number): number {
    return this.random.below(bound);
  }
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.random.below(high - low + 1);
  }
  one(probability: number): boolean {
    return this.random.next() < probability;
  }
  /** Throws on an empty list: ask first. */
  pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)]!;
  }
  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.random.below(i + 1);
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }
}
