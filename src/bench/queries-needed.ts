/**
 * How many queries it takes to say that a percentile holds, by the rule that MLPerf's LoadGen has for it ("early stopping"): the
 * more of them were late, the more it takes, so that a system whose share of late ones is at the limit passes in one run of
 * a hundred at most.
 */
import { binomialAtMost } from "../base/binomial.js";

const CONFIDENCE = 0.99;

/** Of which `late` took longer than the limit; `share`: 0.99 for p99. 459 for p99 where none was late, 662 where one was. */
export function queriesNeeded(late: number, share: number): number {
  let [tooFew, enough] = [late, 2 * late + 2];
  while (!areEnough(late, enough, share)) [tooFew, enough] = [enough, 2 * enough];
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (areEnough(late, middle, share)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/** Whether `queries` are as many as it takes where `late` of them took longer. */
export const areEnough = (late: number, queries: number, share: number): boolean =>
  binomialAtMost(late, queries, 1 - share) <= 1 - CONFIDENCE;
