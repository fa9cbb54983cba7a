/**
 * Are the peaks of `profile` those of the machine? Against STREAM's triad, compiled here, and a large MatMul and MatMulInteger
 * in a bare loop around the runtime, one thread, in turns; of each the best of so many rounds.
 *
 *   node bench/trust/peaks.mjs [--rounds 5]
 *
 * Needs `npm run build` and gcc. About half a minute a round.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseModel, saveModel } from "../../dist/ir/index.js";
import { machinePeaks } from "../../dist/pipeline/profile/machine-peaks.js";
import { inProcess } from "../in-process.mjs";
import { bareTimer } from "./bare-timer.mjs";
import { folderOf } from "./made-models.mjs";
import { HELD, MISSED, Proofs, percent, UNSURE } from "./verdict.mjs";

const { values: asked } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });
const rounds = Number(asked.rounds);
const folder = folderOf("peaks");
/** Rows and side of the weights, on both sides of the tool's own probe. The quickest is the peer: caches suit one or the other. */
const SHAPES = [
  [256, 1024],
  [768, 768],
  [2048, 2048],
];
const SLACK = 0.15;

/** Two builds: which vectors pass on more differs between processors, by a tenth on Zen 4. */
const triads = [[], ["-march=native"]].map((flags, i) => {
  const path = join(folder, `triad-${i}`);
  execFileSync("gcc", ["-O3", ...flags, "-o", path, fileURLToPath(new URL("triad.c", import.meta.url))]);
  return path;
});

const products = (name, op, from, weight) =>
  SHAPES.map(([rows, side]) => {
    const path = join(folder, `${name}-${rows}-${side}.onnx`);
    const text = `(a: ${from}[${rows},${side}]) -> (y) { y = ${op}(a, $w: ${weight}[${side},${side}]) }`;
    saveModel(parseModel(text), path).commit();
    return path;
  });
const models = {
  float: { paths: products("float", "MatMul", "f32", "f32"), type: "float32" },
  integer: { paths: products("integer", "MatMulInteger", "u8", "i8"), type: "uint8" },
};

/** Billions of operations a second in the quickest of some runs. */
async function bareRate({ paths, type }) {
  const rates = [];
  for (const [i, [rows, side]] of SHAPES.entries()) {
    const loop = await bareTimer({ model: paths[i], input: "a", dims: [rows, side], type, threads: 1 });
    const times = await loop.measure(50);
    loop.close();
    rates.push((2 * rows * side ** 2) / Math.min(...times) / 1e6);
  }
  return Math.max(...rates);
}

const config = { provider: "cpu", threads: 1, allowFallback: false, seed: 0, shapes: new Map(), batch: 1, benchMs: 0 };
const seen = { float: [], integer: [], bytes: [] };
const peers = { float: [], integer: [], bytes: [] };
for (let round = 0; round < rounds; round++) {
  const peaks = await inProcess("peaks", (context) => machinePeaks({ ...config, maxMemoryBytes: 2 ** 28 }, context));
  seen.float.push(peaks.flopsPerSecond / 1e9);
  seen.integer.push(peaks.intOpsPerSecond / 1e9);
  seen.bytes.push(peaks.bytesPerSecond / 1e9);
  peers.float.push(await bareRate(models.float));
  peers.integer.push(await bareRate(models.integer));
  peers.bytes.push(Math.max(...triads.map((triad) => Number(execFileSync(triad, { encoding: "utf8" })))));
}

const proofs = new Proofs();
const units = {
  float: ["float, against a large MatMul", "GFLOP/s"],
  integer: ["8-bit integers, against a large MatMulInteger", "Gop/s"],
  bytes: ["memory, against STREAM's triad", "GB/s"],
};
for (const [key, [claim, unit]] of Object.entries(units)) {
  const [ours, theirs] = [Math.max(...seen[key]), Math.max(...peers[key])];
  const off = ours / theirs - 1;
  // A machine whose own figures differ by more than the claim from round to round cannot tell.
  const swing = 1 - [...peers[key]].sort((a, b) => b - a)[Math.min(1, rounds - 1)] / theirs;
  const verdict = Math.abs(off) <= SLACK ? HELD : swing > SLACK / 2 ? UNSURE : MISSED;
  proofs.tell(
    verdict,
    claim,
    `${ours.toFixed(1)} and ${theirs.toFixed(1)} ${unit}, ${percent(off)} off; rounds ${seen[key].map((x) => x.toFixed(0)).join(" ")} and ${peers[key].map((x) => x.toFixed(0)).join(" ")}`,
  );
}
proofs.end();
