/** Verdicts on made-up evaluation sets of a candidate whose true drop is known. What is examined is handed in. */
import { chance } from "./latency-sources.mjs";

/**
 * Of each set, `samples` answers: a share of `changed` turns from right to wrong or back, so that `drop` is lost on average.
 * `confidence` null: the measured value decides, and what the interval says is a warning.
 */
export function limitTrials(
  { pairedDifferenceInterval, judgeAccuracy },
  { sets, samples, drop, changed, confidence, limit = 1, seed = 1 },
) {
  const random = chance(seed);
  const seen = { met: 0, missed: 0, inconclusive: 0, advised: 0, warned: 0, follows: 0, warnsRightly: 0 };
  for (let set = 0; set < sets; set++) {
    const before = new Float64Array(samples);
    const after = new Float64Array(samples);
    let [right, left] = [0, 0];
    for (let i = 0; i < samples; i++) {
      const at = random.next();
      const [lost, won] = [at < (changed + drop) / 2, at >= (changed + drop) / 2 && at < changed];
      before[i] = lost ? 1 : won ? 0 : random.next() < 0.9 ? 1 : 0;
      after[i] = lost ? 0 : won ? 1 : before[i];
      right += before[i];
      left += after[i];
    }
    const { low, high } = pairedDifferenceInterval(before, after, { seed: set, confidence: confidence ?? 0.95 });
    const facts = {
      ...{ metric: "top1", kind: "labels", higherIsBetter: true, samples, confidence: confidence ?? 0.95 },
      answers: { both: 0, onlyBefore: 0, onlyAfter: 0, neither: 0 },
      ...{
        baseline: right / samples,
        candidate: left / samples,
        delta: (left - right) / samples,
        deltaInterval: [low, high],
      },
    };
    const { reason, warnings } = judgeAccuracy({ facts, isRate: true }, { percent: limit }, confidence);
    seen[reason.status]++;
    if (/about \d+ samples would decide|no number of samples would decide/.test(reason.text)) seen.advised++;
    // By whole numbers: what is lost of so many, against the limit of so many.
    const isWithin = 100 * (right - left) <= limit * samples;
    if ((reason.status === "met") === isWithin) seen.follows++;
    const same = 1e-9 * limit;
    const straddles = -100 * high <= limit + same && -100 * low > limit + same;
    if (warnings.length > 0) seen.warned++;
    if (warnings.length > 0 === straddles) seen.warnsRightly++;
  }
  return seen;
}

/** What a sample may lose, with a mean of 1: the larger sigma, the more of it is lost by a few. */
export const losses = {
  "normal, as wide as four times its mean": (random) => 1 + 4 * random.normal(),
  exponential: (random) => -Math.log(1 - random.next()),
  "lognormal of sigma 1": (random) => Math.exp(random.normal() - 0.5),
  "lognormal of sigma 1.5": (random) => Math.exp(1.5 * random.normal() - 1.125),
  "lognormal of sigma 2": (random) => Math.exp(2 * random.normal() - 2),
  "one in twenty loses all": (random) => (random.next() < 0.05 ? 20 : 0.001 * random.normal()),
};

/** Of each set, `samples` scores without bounds, of which `loss` is lost; the limit is half of what is lost on average. */
export function lossTrials({ pairedDifferenceInterval, judgeAccuracy }, { sets, samples, loss, seed = 1 }) {
  const random = chance(seed);
  const seen = { met: 0, missed: 0, inconclusive: 0, advised: 0 };
  for (let set = 0; set < sets; set++) {
    const before = Float64Array.from({ length: samples }, () => 30 + 3 * random.normal());
    const after = before.map((score) => score - losses[loss](random));
    const { low, high } = pairedDifferenceInterval(before, after, { seed: set, confidence: 0.95 });
    const mean = (of) => of.reduce((sum, each) => sum + each, 0) / samples;
    const facts = {
      ...{ metric: "sqnr", kind: "labels", higherIsBetter: true, samples, confidence: 0.95 },
      ...{
        baseline: mean(before),
        candidate: mean(after),
        delta: mean(after) - mean(before),
        deltaInterval: [low, high],
      },
    };
    const { reason } = judgeAccuracy({ facts, isRate: false }, { absolute: 0.5 }, 0.95);
    seen[reason.status]++;
    if (/about \d+ samples would decide|no number of samples would decide/.test(reason.text)) seen.advised++;
  }
  return seen;
}
