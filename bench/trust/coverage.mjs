/**
 * Do intervals hold the truth as often as they say? Latencies of known quantiles are drawn, and the intervals that `bench` and
 * `gate` print are made of them.
 *
 *   node bench/trust/coverage.mjs [--trials 1000] [--races 300] [--runs 3200]
 *
 * Needs `npm run build`. Nothing is timed, so a busy machine makes no difference; the same trials give the same figures.
 */
import { parseArgs } from "node:util";
import { quantileIntervals } from "../../dist/base/quantile-interval.js";
import { compareLatency } from "../../dist/bench/index.js";
import { percentileCoverage, speedupCoverage } from "./coverage-trials.mjs";
import { beyondSources, latencySources } from "./latency-sources.mjs";
import { HELD, MISSED, Proofs, percent } from "./verdict.mjs";

const { values: asked } = parseArgs({
  options: {
    trials: { type: "string", default: "1000" },
    races: { type: "string", default: "300" },
    runs: { type: "string", default: "3200" },
  },
});
const [trials, races, runs] = [Number(asked.trials), Number(asked.races), Number(asked.runs)];
/** Fewer trials say less about a share: 93 to 97 % is for a thousand. */
const slackOf = (count) => 0.02 * Math.max(1, Math.sqrt(1000 / count));
const isKept = (share, count) => Math.abs(share - 0.95) <= slackOf(count);
/** What four looks at 99 % may get wrong, and three standard deviations of as many races. */
const mostWrong = 0.04 + 3 * Math.sqrt((0.04 * 0.96) / races);
const proofs = new Proofs();

const percentiles = [0.5, 0.9, 0.95, 0.99];
console.log(`95 % intervals of p50, p90, p95, p99: ${trials} trials of ${runs} runs\n`);
for (const [name, source] of Object.entries(latencySources)) {
  const held = percentileCoverage(quantileIntervals, source, { trials, runs, percentiles });
  proofs.tell(
    held.every((share) => isKept(share, trials)) ? HELD : MISSED,
    name,
    held.map((share) => percent(share)).join("  "),
  );
}
for (const [name, source] of Object.entries(beyondSources)) {
  const held = percentileCoverage(quantileIntervals, source, { trials, runs, percentiles });
  console.log(`not claimed     ${name}: ${held.map((share) => percent(share)).join("  ")}`);
}

const raced = ["lognormal", "bimodal", "lognormal, leaning 0.8", "slow phases of 5 runs"];
/** Of each model: together they shift the ratio of a pair by 2 %, as `bench` takes for granted. */
const ASSUMED = 0.02 / Math.SQRT2;
const raceOf = (source, options, processDeviation, truth = 1.2, size = {}) =>
  speedupCoverage(compareLatency, source, { trials: races, truth, processDeviation, options, ...size });
const race = (name, ...rest) => raceOf(latencySources[name], ...rest);

console.log(
  "\n95 % interval of the speedup, the whole budget of 10 s spent; processes that differ by 2 %, and not at all\n",
);
for (const name of raced) {
  const whole = { budgetMs: 10_000, confidence: 0.95, minRuns: Number.POSITIVE_INFINITY };
  const [differing, alike] = [await race(name, whole, ASSUMED), await race(name, whole, 0)];
  proofs.tell(
    isKept(differing.held / races, races) && alike.held / races >= 0.95 - slackOf(races) ? HELD : MISSED,
    name,
    `${percent(differing.held / races)}, and ${percent(alike.held / races)} where processes are alike; ` +
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
    const wrong = (limit < 1.2 ? seen.missed : limit > 1.2 ? seen.met : seen.met + seen.missed) / races;
    proofs.tell(
      seen.held / races >= 0.95 - slackOf(races) && wrong <= mostWrong ? HELD : MISSED,
      `${name}, ${words}`,
      `holds it in ${percent(seen.held / races)}; ${seen.met} met, ${seen.missed} missed, ${seen.inconclusive} inconclusive`,
    );
  }
}

console.log(
  "\nA race for a verdict alone, at 99 %: one process of each where that is far from the limit, and runs are alike\n",
);
/** A fifth of what the logarithm of a latency does: as on a machine at rest. */
const atRest = ({ series }) => ({
  series: (random) => {
    const next = series(random);
    return () => 10 * (next() / 10) ** 0.2;
  },
});
for (const name of raced) {
  for (const [source, words] of [
    [latencySources[name], ""],
    [atRest(latencySources[name]), ", at rest"],
  ]) {
    for (const [truth, scale] of [
      [3.4, 1],
      [2.2, 10],
      [1.3, 1],
    ]) {
      const options = { budgetMs: 3000, minSpeedup: 1, isQuick: true };
      const seen = await raceOf(source, options, ASSUMED, truth, { scale, startMs: 300 });
      // A dozen runs of which each leans on the one before are no dozen, and do not show it.
      const isClaimed = words !== "" || !name.includes("leaning");
      const isHeld = seen.held / races >= 0.97 - 2 * slackOf(races) && seen.missed / races <= mostWrong;
      const tell = isClaimed
        ? (...said) => proofs.tell(isHeld ? HELD : MISSED, ...said)
        : (...said) => console.log(`not claimed     ${said.join(": ")}`);
      tell(
        `${name}${words}, ${truth} times as fast, runs of ${10 * scale} ms`,
        `holds it in ${percent(seen.held / races)}; ${seen.met} met, ${seen.missed} missed, ${seen.inconclusive} inconclusive; ` +
          `${seen.processes.toFixed(1)} processes, ${seen.runs.toFixed(0)} runs, ${percent(seen.width)} wide`,
      );
    }
  }
}

console.log(
  "\nRaces as `gate` runs them of models of 0.1 ms, whose processes take 0.2 s to start and differ by far more than is assumed\n",
);
const TINY = { startMs: 200, scale: 0.01 };
for (const deviation of [0.05, 0.1]) {
  const name = "lognormal";
  for (const limit of [1.2, 1.05]) {
    const options = { budgetMs: 10_000, minSpeedup: limit };
    const seen = await race(name, options, deviation / Math.SQRT2, 1.2, TINY);
    const wrong = (limit < 1.2 ? seen.missed : seen.met + seen.missed) / races;
    proofs.tell(
      seen.held / races >= 0.95 - 2 * slackOf(races) && wrong <= mostWrong + slackOf(races) ? HELD : MISSED,
      `${name}, by ${percent(deviation)}, the limit is ${limit === 1.2 ? "the truth" : "an eighth below"}`,
      `holds it in ${percent(seen.held / races)}; ${seen.met} met, ${seen.missed} missed, ${seen.inconclusive} inconclusive; ` +
        `${seen.processes.toFixed(1)} processes, ${percent(seen.width)} wide`,
    );
  }
}
proofs.end();
