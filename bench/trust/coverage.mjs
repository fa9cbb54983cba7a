/**
 * Do intervals hold the truth as often as they say? Latencies of known quantiles are drawn, and the intervals that `bench` and
 * `gate` print are made of them.
 *
 *   node bench/trust/coverage.mjs [--trials 1000] [--runs 3200]
 *
 * Needs `npm run build`. Nothing is timed, so a busy machine makes no difference; the same trials give the same figures.
 */
import { parseArgs } from "node:util";
import { quantileIntervals } from "../../dist/base/quantile-interval.js";
import { compareLatency } from "../../dist/bench/index.js";
import { percentileCoverage, speedupCoverage } from "./coverage-trials.mjs";
import { latencySources } from "./latency-sources.mjs";
import { HELD, MISSED, Proofs, percent } from "./verdict.mjs";

const { values: asked } = parseArgs({
  options: { trials: { type: "string", default: "1000" }, runs: { type: "string", default: "3200" } },
});
const [trials, runs] = [Number(asked.trials), Number(asked.runs)];
/** Fewer trials say less about a share: 93 to 97 % is for a thousand. */
const slack = 0.02 * Math.max(1, Math.sqrt(1000 / trials));
const isKept = (share) => Math.abs(share - 0.95) <= slack;
const proofs = new Proofs();

const percentiles = [0.5, 0.9, 0.95, 0.99];
console.log(`95 % intervals of p50, p90, p95, p99: ${trials} trials of ${runs} runs\n`);
for (const [name, source] of Object.entries(latencySources)) {
  const held = percentileCoverage(quantileIntervals, source, { trials, runs, percentiles });
  proofs.tell(held.every(isKept) ? HELD : MISSED, name, held.map((share) => percent(share)).join("  "));
}

const raced = ["lognormal", "bimodal", "lognormal, leaning 0.8", "slow phases of 5 runs"];
/** Of each model: together they shift the ratio of a pair by 1 %, as `bench` takes for granted. */
const ASSUMED = 0.01 / Math.SQRT2;
const race = (name, options, processDeviation, truth = 1.2) =>
  speedupCoverage(compareLatency, latencySources[name], { trials, truth, processDeviation, options });

console.log(
  "\n95 % interval of the speedup, the whole budget of 10 s spent; processes that differ by 1 %, and not at all\n",
);
for (const name of raced) {
  const whole = { budgetMs: 10_000, confidence: 0.95, minRuns: Number.POSITIVE_INFINITY };
  const [differing, alike] = [await race(name, whole, ASSUMED), await race(name, whole, 0)];
  proofs.tell(
    isKept(differing.held / trials) && alike.held / trials >= 0.95 - slack ? HELD : MISSED,
    name,
    `${percent(differing.held / trials)}, and ${percent(alike.held / trials)} where processes are alike; ` +
      `${percent(differing.width)} wide after ${differing.runs.toFixed(0)} runs`,
  );
}

console.log("\nA race as `gate` runs it: 99 % at each of up to four looks, ended as soon as the limit is decided\n");
for (const name of raced) {
  for (const [limit, words] of [
    [1.2, "the limit is the truth"],
    [1.14, "the limit is 5 % below the truth"],
    [1.26, "the limit is 5 % above"],
  ]) {
    const seen = await race(name, { budgetMs: 10_000, minSpeedup: limit }, ASSUMED);
    const wrong = (limit < 1.2 ? seen.missed : limit > 1.2 ? seen.met : seen.met + seen.missed) / trials;
    proofs.tell(
      seen.held / trials >= 0.95 - slack && wrong <= 0.05 ? HELD : MISSED,
      `${name}, ${words}`,
      `holds it in ${percent(seen.held / trials)}; ${seen.met} met, ${seen.missed} missed, ${seen.inconclusive} inconclusive`,
    );
  }
}
proofs.end();
