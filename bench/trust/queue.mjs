/**
 * Does an open loop make the queue that theory says? M/D/1: requests arrive at random, each takes the same time. The mean wait is
 * rho / (2 (1 - rho)) times the service (Pollaczek and Khinchine).
 *
 *   node bench/trust/queue.mjs [--requests 400000]
 *
 * Needs `npm run build`. Arrivals and figures are the tool's, the server is simulated: nothing is timed.
 */
import { parseArgs } from "node:util";
import { seededRandom } from "../../dist/base/random.js";
import { arrivals, summarizeLoad } from "../../dist/bench/index.js";
import { HELD, MISSED, Proofs, percent } from "./verdict.mjs";

const { values: asked } = parseArgs({ options: { requests: { type: "string", default: "400000" } } });
const SERVICE_MS = 10;
const proofs = new Proofs();
for (const rho of [0.1, 0.3, 0.5, 0.7, 0.8]) {
  const rate = (1000 * rho) / SERVICE_MS;
  const durationMs = (1000 * Number(asked.requests)) / rate;
  const arrivalMs = arrivals("poisson", rate, durationMs, seededRandom(1));
  const startMs = new Float64Array(arrivalMs.length);
  let free = 0;
  const endMs = arrivalMs.map((arrival, i) => {
    startMs[i] = Math.max(arrival, free);
    free = startMs[i] + SERVICE_MS;
    return free;
  });
  const { meanWaitingMs } = summarizeLoad({ arrivalMs, startMs, endMs, peakRssBytes: 0 }, { durationMs }, 1);
  const theory = (SERVICE_MS * rho) / (2 * (1 - rho));
  const off = meanWaitingMs / theory - 1;
  proofs.tell(
    Math.abs(off) <= 0.05 ? HELD : MISSED,
    `M/D/1 at a load of ${percent(rho, 0)}`,
    `waits ${meanWaitingMs.toFixed(3)} ms, theory ${theory.toFixed(3)} (${percent(off, 2)} off)`,
  );
}
proofs.end();
