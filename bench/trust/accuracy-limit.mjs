/**
 * Does `--confidence 95%` let bad candidates pass? A thousand evaluation sets are drawn for candidates whose true drop is known.
 *
 *   node bench/trust/accuracy-limit.mjs [--sets 1000]
 *
 * Needs `npm run build`. Nothing is timed; the same number of sets gives the same figures.
 */
import { parseArgs } from "node:util";
import { pairedDifferenceInterval } from "../../dist/base/bootstrap.js";
import { judgeAccuracy } from "../../dist/pipeline/verdict/accuracy-limit.js";
import { limitTrials, losses, lossTrials } from "./accuracy-trials.mjs";
import { HELD, MISSED, Proofs } from "./verdict.mjs";

const { values: asked } = parseArgs({ options: { sets: { type: "string", default: "1000" } } });
const sets = Number(asked.sets);
const proofs = new Proofs();
const said = ({ met, missed, inconclusive }) => `${met} met, ${missed} missed, ${inconclusive} inconclusive`;
const examined = { pairedDifferenceInterval, judgeAccuracy };

console.log(`--max-drop 1% --confidence 95%: ${sets} evaluation sets each\n`);
for (const samples of [200, 1000, 5000]) {
  for (const changed of [0.03, 0.1]) {
    const seen = limitTrials(examined, { sets, samples, drop: 0.02, changed, confidence: 0.95 });
    proofs.tell(
      seen.met <= 0.025 * sets ? HELD : MISSED,
      `true drop of 2 points, ${samples} samples, ${100 * changed} % of answers changed`,
      said(seen),
    );
  }
}
for (const loss of Object.keys(losses)) {
  const seen = [10, 32, 100, 200].map((samples) => lossTrials(examined, { sets, samples, loss }));
  proofs.tell(
    seen.every(({ met }) => met <= 0.025 * sets) ? HELD : MISSED,
    `scores without bounds of which twice the limit is lost, ${loss}: 10, 32, 100, 200 samples`,
    `${seen.map(({ met }) => met).join(", ")} met`,
  );
}
const few = limitTrials(examined, { sets, samples: 100, drop: 0.002, changed: 0.02, confidence: 0.95 });
proofs.tell(
  few.advised === few.inconclusive && few.inconclusive > 0 ? HELD : MISSED,
  "too few samples are said, with how many it takes",
  `${said(few)}; ${few.advised} name a number`,
);
const enough = limitTrials(examined, { sets, samples: 20_000, drop: 0.002, changed: 0.02, confidence: 0.95 });
proofs.tell(enough.met >= 0.95 * sets ? HELD : MISSED, "a drop of 0.2 points on 20,000 samples passes", said(enough));

console.log("\n--max-drop 1% without --confidence: the measured value decides\n");
for (const [drop, changed] of [
  [0.002, 0.02],
  [0.01, 0.03],
  [0.02, 0.05],
]) {
  const seen = limitTrials(examined, { sets, samples: 1000, drop, changed, confidence: null });
  proofs.tell(
    seen.follows === sets && seen.warnsRightly === sets ? HELD : MISSED,
    `true drop of ${100 * drop} points: follows the value, warns exactly where the interval holds the limit`,
    `${said(seen)}; ${seen.warned} warnings`,
  );
}
proofs.end();
