/** Yes or no, many times over: how likely few of one kind are, and which shares go with what was counted. */
import { invariant } from "./errors.js";
import type { Interval } from "./statistics.js";

/** P(X <= most), X of `n` independent trials that each succeed with probability `p` in (0, 1). */
export function binomialAtMost(most: number, n: number, p: number): number {
  invariant(p > 0 && p < 1, "a trial that may go either way");
  if (most >= n) return 1;
  const odds = Math.log(p) - Math.log1p(-p);
  let logTerm = n * Math.log1p(-p);
  let sum = 0;
  for (let x = 0; x <= most; x++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((n - x) / (x + 1)) + odds;
  }
  return Math.min(1, sum);
}

/** The share that `hits` of `n` stand for, by Clopper and Pearson (1934): it holds the truth at least as often as it says. */
export function exactShareInterval(hits: number, n: number, confidence = 0.95): Interval {
  invariant(n > 0 && hits >= 0 && hits <= n, "some of them, or none, or all");
  const tail = (1 - confidence) / 2;
  /** The share at which so many at most are just that unlikely: more of them make few less likely. */
  const shareAt = (most: number, chance: number): number => {
    let [low, high] = [0, 1];
    for (let step = 0; step < 50; step++) {
      const share = (low + high) / 2;
      if (binomialAtMost(most, n, share) > chance) low = share;
      else high = share;
    }
    return (low + high) / 2;
  };
  return { low: hits === 0 ? 0 : shareAt(hits - 1, 1 - tail), high: hits === n ? 1 : shareAt(hits, tail) };
}
