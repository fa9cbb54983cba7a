// Fuses every model under some folders, in one process, and compares each with its original.
//
//   node bench/corpus.mjs FOLDER... [--out FOLDER] [--verify none|fast|full] [--runtime-specific] [--only TEXT] [--json FILE]
//                          [--timeout SECONDS] [--limit SECONDS] [--log FILE]
//
// --verify none (the default here) switches off the check that would undo a wrong rewrite, so that it shows. Both models run
// with the runtime's own optimizer off: on the samples beside the model where it is a conformance case, on seeded inputs
// otherwise. With --out the results are kept, for bench/peers/simplify_corpus.py. Exit code 1 when anything is wrong.
//
// --timeout is how long the runtime may take for one answer: an original that takes longer is left out. --limit is how long a
// model may take altogether, in which case it is stopped and is left out when its original was being run, and an error
// otherwise. --log gets a line per model as it is done.
import { fork } from "node:child_process";
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    verify: { type: "string", default: "none" },
    "runtime-specific": { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
    log: { type: "string" },
    timeout: { type: "string", default: "60" },
    limit: { type: "string", default: "300" },
  },
});
if (positionals.length === 0) {
  console.error("usage: node bench/corpus.mjs FOLDER... [--out FOLDER] [--verify LEVEL] [--only TEXT] [--json FILE]");
  process.exit(2);
}

const limitMs = Number(values.limit) * 1000;
const options = {
  out: values.out,
  verify: values.verify,
  runtimeSpecific: values["runtime-specific"],
  answerMs: Number(values.timeout) * 1000,
};
const records = [];
let judge = null;
for (const root of positionals) {
  const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".onnx"));
  for (const file of files.sort()) {
    const name = join(basename(root), file);
    if (values.only && !name.includes(values.only)) continue;
    judge ??= started();
    const start = performance.now();
    const record = { name, ...(await judged({ model: join(root, file), name })) };
    const wall = (performance.now() - start) / 1000;
    records.push({ ...record, wall });
    if (values.log) appendFileSync(values.log, `${wall.toFixed(1)} s  ${record.state}  ${name}  ${record.reason}\n`);
    if (process.stderr.isTTY) process.stderr.write(`\r${records.length} ${name.slice(0, 70).padEnd(70)}`);
  }
}
judge?.disconnect();
if (values.json) writeFileSync(values.json, JSON.stringify(records, null, 1));
process.exitCode = print() ? 0 : 1;

/** A process that judges, leader of a group: what it has started ends with it. */
function started() {
  const judging = fileURLToPath(new URL("corpus-judge.mjs", import.meta.url));
  return fork(judging, [JSON.stringify(options)], { detached: true });
}

/** What is found of a model, also when its judge does not come back. */
function judged(request) {
  return new Promise((resolve) => {
    const child = judge;
    let step = "start";
    const settle = (record) => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(record);
    };
    const lost = (state, reason) => {
      judge = null;
      settle({ state: step === "run the original" ? "left out" : state, reason: `${reason} to ${step}` });
    };
    const timer = setTimeout(() => {
      process.kill(-child.pid, "SIGKILL");
      lost("overdue", `stopped after ${values.limit} s, busy`);
    }, limitMs);
    child.on("message", (message) => {
      if (message.record) settle(message.record);
      else step = message.step;
    });
    child.once("exit", (code, signal) => lost("crashed", `the process ended (${signal ?? code}), about`));
    child.send(request);
  });
}

/** Whether all is well. */
function print() {
  const judged = records.filter(({ state }) => state !== "left out");
  const by = (state) => judged.filter((record) => record.state === state);
  const states = ["equal", "wrong", "invalid", "crashed", "overdue", "refused", "sensitive"];
  console.log(
    `${records.length} models, ${judged.length} judged: ${states.map((s) => `${by(s).length} ${s}`).join(", ")}`,
  );
  const before = judged.reduce((sum, record) => sum + (record.before ?? 0), 0);
  const after = judged.reduce((sum, record) => sum + (record.after ?? record.before ?? 0), 0);
  const seconds = judged.reduce((sum, record) => sum + (record.seconds ?? 0), 0);
  console.log(
    `nodes ${before} -> ${after} (${((after / before - 1) * 100).toFixed(1)} %), ${seconds.toFixed(0)} s for fusing alone`,
  );
  const leftOut = records.filter(({ state }) => state === "left out");
  for (const [why, count] of reasons(leftOut)) console.log(`  left out ${count}: ${why}`);
  for (const state of states.slice(1))
    for (const { name, reason } of by(state)) console.log(`  ${state} ${name}: ${reason}`);
  for (const { name, notes } of judged) for (const note of notes ?? []) console.log(`  note ${name}: ${note}`);
  return ["wrong", "invalid", "crashed", "overdue"].every((state) => by(state).length === 0);
}

/** Why models were left out, the most frequent first; names and numbers told apart would hide what they have in common. */
function reasons(leftOut) {
  const counts = new Map();
  for (const { reason } of leftOut) {
    const why = reason.startsWith("Error ") ? "gives other results each time it runs" : reason.split(":")[0];
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}
