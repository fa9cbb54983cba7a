/**
 * Do speedup and accuracy agree with those of somebody else? The speedup that `bench` prints for a pair against a plain loop in
 * Python, the accuracy of `verify` against numpy.
 *
 *   node bench/trust/independent.mjs --python PYTHON [--tries 20] [--budget 8s]
 *
 * Needs `npm run build`, and a Python with onnxruntime and numpy. About three times the budget a try.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chainModel, folderOf } from "./made-models.mjs";
import { HELD, MISSED, Proofs, UNSURE } from "./verdict.mjs";

const { values: asked } = parseArgs({
  options: {
    python: { type: "string", default: "python3" },
    tries: { type: "string", default: "20" },
    budget: { type: "string", default: "8s" },
  },
});
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const tool = here("../../bin/infer-opt.js");
const folder = folderOf("independent");
const proofs = new Proofs();

function infer(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...args, "--threads", "1", "--json"], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status > 13 || stdout === "") throw new Error(`infer-opt ${args.join(" ")} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

// Accuracy, to the last bit: the digits, and the same with a layer of them in 8 bits.
const [digits, labelled] = ["../../fixtures/models/digits.onnx", "../../calibration/digits/evaluation.npz"].map(here);
const int8 = join(folder, "int8.onnx");
infer("quantize", digits, "--mode", "dynamic", "--goal", "size", "--max-drop", "none", "-o", int8);
const { accuracy } = infer("verify", digits, int8, "--eval", labelled, "--metric", "top1", "--max-drop", "none");
const independent = JSON.parse(
  execFileSync(asked.python, [here("accuracy.py"), labelled, digits, int8], { encoding: "utf8" }),
);
proofs.tell(
  accuracy.baseline === independent[0] && accuracy.candidate === independent[1] ? HELD : MISSED,
  "accuracy equals that of numpy",
  `${accuracy.baseline} and ${accuracy.candidate} on ${accuracy.samples} samples; numpy ${independent.join(" and ")}`,
);

let inside = 0;
const widths = [];
for (let run = 0; run < Number(asked.tries); run++) {
  // Another pair each time: from a little slower to twice as fast.
  const layers = 6 + (run % 8);
  // Runs of less than a millisecond: a busy machine leaves most of them in peace.
  const size = { rows: 32, width: 256 };
  const baseline = chainModel(join(folder, "baseline.onnx"), { ...size, layers: 12 });
  const candidate = chainModel(join(folder, "candidate.onnx"), { ...size, layers });
  const [, row] = infer("bench", baseline, candidate, "--budget", asked.budget, "--seed", String(run)).bench.models;
  const [low, high] = row.speedupInterval;
  const seconds = String(Number.parseFloat(asked.budget));
  const python = Number(execFileSync(asked.python, [here("speedup.py"), baseline, candidate, "32,256", seconds]));
  const isInside = low <= python && python <= high;
  if (isInside) inside++;
  widths.push(Math.log(high / low));
  console.log(
    `  ${layers} of 12 layers: ${row.speedup.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}), Python ${python.toFixed(3)}${isInside ? "" : "  outside"}`,
  );
}
const tries = widths.length;
const width = widths.sort((a, b) => a - b)[tries >> 1];
// Python's own ratio is off by chance too; a narrow interval has no room for that.
proofs.tell(
  inside >= 0.95 * tries ? HELD : width > 0.2 || tries < 20 ? UNSURE : MISSED,
  "the speedup of a plain Python loop lies within the interval, 19 times in 20",
  `${inside} of ${tries}; intervals ${(100 * width).toFixed(1)} % wide in the middle`,
);
proofs.end();
