// Fuses every model under some folders, in one process, and compares each with its original.
//
//   node bench/corpus.mjs FOLDER... [--out FOLDER] [--verify none|fast|full] [--runtime-specific] [--only TEXT] [--json FILE]
//                          [--timeout SECONDS]
//
// --verify none (the default here) switches off the check that would undo a wrong rewrite, so that it shows. Both models run
// with the runtime's own optimizer off: on the samples beside the model where it is a conformance case, on seeded inputs
// otherwise. With --out the results are kept, for bench/peers/simplify_corpus.py. Exit code 1 when anything is wrong.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { InferOptError, loadModel, runFuse } from "../dist/index.js";
import { countNodes } from "../dist/ir/index.js";
import { fuseConfig, inProcess, reasonOf, session as usual } from "./in-process.mjs";

/** Of the largest magnitude of an output. */
const TOLERANCE = 1e-3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    verify: { type: "string", default: "none" },
    "runtime-specific": { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
    timeout: { type: "string", default: "60" },
  },
});
if (positionals.length === 0) {
  console.error("usage: node bench/corpus.mjs FOLDER... [--out FOLDER] [--verify LEVEL] [--only TEXT] [--json FILE]");
  process.exit(2);
}

const session = { ...usual, timeoutMs: Number(values.timeout) * 1000 };
const records = [];
await inProcess("corpus", async (context) => {
  for (const root of positionals) {
    const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".onnx"));
    for (const file of files.sort()) {
      const name = join(basename(root), file);
      if (values.only && !name.includes(values.only)) continue;
      records.push({ name, ...(await examine(join(root, file), name, context)) });
      if (process.stderr.isTTY) process.stderr.write(`\r${records.length} ${name.slice(0, 70).padEnd(70)}`);
    }
  }
});
if (values.json) writeFileSync(values.json, JSON.stringify(records, null, 1));
process.exitCode = print() ? 0 : 1;

async function examine(model, name, context) {
  const path = values.out ? join(values.out, name) : join(context.scratch, "made.onnx");
  mkdirSync(dirname(path), { recursive: true });
  let data;
  try {
    data = await runnable(model, context);
  } catch (thrown) {
    return { state: "left out", reason: reasonOf(thrown) };
  }
  const start = performance.now();
  let found;
  try {
    const before = countNodes(loadModel(model).graph);
    const { warnings } = await runFuse(configOf(model, path), context);
    const seconds = (performance.now() - start) / 1000;
    const after = countNodes(loadModel(path).graph);
    found = { before, after, seconds, notes: warnings.filter((text) => text.includes("rejected")) };
  } catch (thrown) {
    return { state: thrown instanceof InferOptError ? "refused" : "crashed", reason: reasonOf(thrown) };
  }
  try {
    return { ...found, ...(await judge(model, path, data, context)) };
  } catch (thrown) {
    return { ...found, state: "invalid", reason: reasonOf(thrown) };
  } finally {
    if (!values.out) rmSync(path, { force: true });
  }
}

/** The first data on which the original runs and agrees with itself; throws when there is none. */
async function runnable(model, { runtime }) {
  const folder = dirname(model);
  const hasSamples = readdirSync(folder).some((entry) => entry.startsWith("test_data_set_"));
  const made = ["small", "single"].map((sizes) => ({ path: "random", random: { seed: 7, count: 2, sizes } }));
  let failure;
  for (const data of [...(hasSamples ? [{ path: folder }] : []), ...made]) {
    try {
      const itself = await runtime.compare({ baseline: model, candidate: model, data, session });
      if (itself.some(({ mismatch, differing }) => mismatch !== null || differing > 0)) throw new Error("random");
      return data;
    } catch (thrown) {
      failure = thrown;
    }
  }
  throw failure;
}

async function judge(model, path, data, { runtime, scratch }) {
  const wrong = wrongOf(await runtime.compare({ baseline: model, candidate: path, data, session }));
  if (wrong === null) return { state: "equal", reason: "" };
  // Where the runtime's own optimizer moves the results as far, rounding explains it.
  const fused = join(scratch, "reference.onnx");
  await runtime.describe(model, { ...session, optimization: "all" }, fused);
  const floor = await runtime.compare({ baseline: model, candidate: fused, data, session });
  return { state: wrongOf(floor) === null ? "wrong" : "sensitive", reason: wrong };
}

function wrongOf(differences) {
  for (const { output, mismatch, nanMismatch, maxAbs, maxMagnitude, elements } of differences) {
    if (mismatch !== null) return `${output}: ${mismatch}`;
    if (nanMismatch > 0) return `${output}: ${nanMismatch} of ${elements} are NaN on one side`;
    if (maxAbs > TOLERANCE * maxMagnitude + 1e-5) return `${output}: differs by up to ${maxAbs} of ${maxMagnitude}`;
  }
  return null;
}

function configOf(model, output) {
  return fuseConfig(model, output, null, { verify: values.verify, runtimeSpecific: values["runtime-specific"] });
}

/** Whether all is well. */
function print() {
  const judged = records.filter(({ state }) => state !== "left out");
  const by = (state) => judged.filter((record) => record.state === state);
  const states = ["equal", "wrong", "invalid", "crashed", "refused", "sensitive"];
  console.log(
    `${records.length} models, ${judged.length} judged: ${states.map((s) => `${by(s).length} ${s}`).join(", ")}`,
  );
  const before = judged.reduce((sum, record) => sum + (record.before ?? 0), 0);
  const after = judged.reduce((sum, record) => sum + (record.after ?? record.before ?? 0), 0);
  const seconds = judged.reduce((sum, record) => sum + (record.seconds ?? 0), 0);
  console.log(
    `nodes ${before} -> ${after} (${((after / before - 1) * 100).toFixed(1)} %), ${seconds.toFixed(0)} s for fusing alone`,
  );
  for (const state of states.slice(1))
    for (const { name, reason } of by(state)) console.log(`  ${state} ${name}: ${reason}`);
  for (const { name, notes } of judged) for (const note of notes ?? []) console.log(`  note ${name}: ${note}`);
  return ["wrong", "invalid", "crashed"].every((state) => by(state).length === 0);
}
