/**
 * What does the tool add to what it measures? Its own timer and a bare loop around onnxruntime-node, in turns, in a process
 * each. The claim is for models from 0.2 ms up; a smaller one shows what is left below.
 *
 *   node bench/trust/overhead.mjs [--seconds 20] [--pairs 3]
 *
 * Needs `npm run build`. So many seconds for each of four models, in that many fresh pairs of processes: where a process lands in memory
 * moves a short run by several percent, so more processes narrow the interval and more seconds do not.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { speedupOf } from "../../dist/bench/speedup.js";
import { ortRuntime } from "../../dist/runtime/ort/index.js";
import { bareTimer } from "./bare-timer.mjs";
import { chainModel, folderOf } from "./made-models.mjs";
import { HELD, MISSED, Proofs, percent, UNSURE } from "./verdict.mjs";

const { values: asked } = parseArgs({
  options: { seconds: { type: "string", default: "20" }, pairs: { type: "string", default: "3" } },
});
const folder = folderOf("overhead");
const proofs = new Proofs();
const PAIRS = Number(asked.pairs);
/** Within this of the bare loop. */
const SLACK = 0.03;
const LEAST_MS = 0.2;

const models = [
  { layers: 2, rows: 32, width: 192 },
  { layers: 3, rows: 48, width: 256 },
  { layers: 8, rows: 64, width: 384 },
  { layers: 12, rows: 128, width: 512 },
];

for (const [i, size] of models.entries()) {
  const model = chainModel(join(folder, `chain-${i}.onnx`), size);
  const [ours, bare] = [[], []];
  for (let pair = 0; pair < PAIRS; pair++) {
    const runtime = ortRuntime({ workers: 1 });
    const session = { provider: "cpu", threads: 1, optimization: "all" };
    const timer = await runtime.timer({ model, data: { path: "random", random: { seed: 1, count: 1 } }, session });
    const loop = await bareTimer({ model, input: "x", dims: [size.rows, size.width], threads: 1 });
    const warm = async (each) => [...(await each.measure(100))].sort((a, b) => a - b)[50];
    const ms = Math.max(await warm(timer), await warm(loop));
    const runs = Math.max(3, Math.min(60, Math.round(4 / ms)));
    ours.push([]);
    bare.push([]);
    const until = performance.now() + (1000 * Number(asked.seconds)) / PAIRS;
    for (let turn = 0; performance.now() < until; turn++) {
      const turns = [
        async () => ours.at(-1).push(...(await timer.measure(runs))),
        async () => bare.at(-1).push(...(await loop.measure(runs))),
      ];
      for (const take of turn % 2 ? turns : turns.reverse()) await take();
    }
    loop.close();
    await timer.close();
    await runtime.close();
  }
  const { speedup, speedupInterval } = speedupOf(ours, bare, { confidence: 0.95, seed: 1 });
  const [low, high] = speedupInterval.map((ratio) => ratio - 1);
  const verdict = low >= -SLACK && high <= SLACK ? HELD : low > SLACK || high < -SLACK ? MISSED : UNSURE;
  const middle = bare.flat().sort((a, b) => a - b)[bare.flat().length >> 1];
  if (middle < LEAST_MS)
    console.log(`below the claim: ${middle.toFixed(3)} ms, the tool measures ${percent(speedup - 1)} more`);
  else
    proofs.tell(
      verdict,
      `a model of ${middle.toFixed(3)} ms`,
      `the tool measures ${percent(speedup - 1)} more (${percent(low)} to ${percent(high)}), ${bare.flat().length} runs each`,
    );
}
proofs.end();
