/**
 * Does `gate` cry wolf, and does it sleep? Runs of it on two copies of a model, and on a model with a fifth more layers, while
 * another process keeps one core busy.
 *
 *   node bench/trust/same-or-slower.mjs [--runs 200] [--log FILE.jsonl] [--budget 8s] [--no-hog]
 *
 * Needs `npm run build`. About 8 seconds a run at most. With --log each run is written down as it ends, and a second call goes
 * on where the first one stopped. The limit is --min-speedup 0.95, as a gate against slower models has it.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chainModel, folderOf } from "./made-models.mjs";
import { HELD, MISSED, Proofs, UNSURE } from "./verdict.mjs";

const { values: asked } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    budget: { type: "string", default: "8s" },
    log: { type: "string" },
    "no-hog": { type: "boolean", default: false },
  },
});
const wanted = Number(asked.runs);
const tool = fileURLToPath(new URL("../../bin/infer-opt.js", import.meta.url));
const LIMIT = 0.95;

const folder = folderOf("same-or-slower");
const size = { rows: 128, width: 256 };
const original = chainModel(join(folder, "original.onnx"), { ...size, layers: 10 });
const same = join(folder, "same.onnx");
copyFileSync(original, same);
const slower = chainModel(join(folder, "slower.onnx"), { ...size, layers: 12 });

const outcomes = { 0: "pass", 11: "fail", 13: "inconclusive" };

function gateOnce(kind, run) {
  const candidate = kind === "same" ? same : slower;
  const limits = ["--max-drop", "none", "--min-speedup", String(LIMIT), "--budget", asked.budget];
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [tool, "gate", original, candidate, ...limits, "--threads", "1", "--seed", String(run), "--json"],
    { encoding: "utf8" },
  );
  const outcome = outcomes[status];
  if (!outcome) throw new Error(`gate ended with ${status}: ${stderr}`);
  const { speedup, speedupInterval, runs } = JSON.parse(stdout).latency;
  const seconds = (performance.now() - started) / 1000;
  return { kind, run, outcome, speedup, speedupInterval, runs, seconds, load: loadavg()[0] };
}

const done =
  asked.log && existsSync(asked.log) ? readFileSync(asked.log, "utf8").trim().split("\n").map(JSON.parse) : [];
// Ends with this process too where it is killed: an orphan has another parent.
const BUSY = "for (const parent = process.ppid; process.ppid === parent; );";
const hog = asked["no-hog"] ? null : spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" });
try {
  for (let run = 0; run < wanted; run++) {
    for (const kind of ["same", "slower"]) {
      if (done.some((before) => before.kind === kind && before.run === run)) continue;
      const result = gateOnce(kind, run);
      done.push(result);
      if (asked.log) appendFileSync(asked.log, `${JSON.stringify(result)}\n`);
    }
  }
} finally {
  hog?.kill();
}

const proofs = new Proofs();
const count = (kind, outcome) => done.filter((each) => each.kind === kind && each.outcome === outcome).length;
const total = (kind) => done.filter((each) => each.kind === kind).length;
const said = (kind) =>
  Object.values(outcomes)
    .map((outcome) => `${count(kind, outcome)} ${outcome}`)
    .join(", ");
const middle = (kind) => {
  const speedups = done.filter((each) => each.kind === kind).map(({ speedup }) => speedup);
  return speedups.sort((a, b) => a - b)[speedups.length >> 1].toFixed(3);
};
const seconds = done.reduce((sum, each) => sum + each.seconds, 0) / done.length;
const load = done.reduce((sum, each) => sum + each.load, 0) / done.length;
console.log(`${seconds.toFixed(1)} s a run, load ${load.toFixed(1)} on average`);

// Two of 200 are 1 in 100; fewer runs have the same share, and one at least.
const [alarms, n] = [count("same", "fail"), total("same")];
proofs.tell(
  alarms <= Math.max(1, Math.floor(n / 100)) ? HELD : MISSED,
  "two copies of a model, at most 1 in 100 called slower",
  `${n} runs: ${said("same")}; middle ratio ${middle("same")}`,
);
const [caught, passed, slow] = [count("slower", "fail"), count("slower", "pass"), total("slower")];
proofs.tell(
  passed > 0 ? MISSED : caught >= 0.95 * slow ? HELD : UNSURE,
  "a fifth more work, at least 95 in 100 caught and none passed",
  `${slow} runs: ${said("slower")}; middle ratio ${middle("slower")} (10 / 12 is 0.833)`,
);
proofs.end();
