// Reads, rewrites and compares the models of an ONNX conformance suite.
//
//   node bench/conformance.mjs FOLDER... [--only TEXT] [--opset N] [--runtime-specific] [--json FILE]
//
// A model is a folder with model.onnx and test_data_set_*. All are read, written and read again, which must give the same
// text. Each that ONNX Runtime can run is then (1) read and written, which must give the same bits, and (2) fused, which may
// differ by rounding. Outputs are compared with those of the original on the suite's own inputs, and with the outputs that
// the suite expects. --runtime-specific fuses as the flag of `fuse` does. With --opset, each is converted to that opset
// instead, which may differ by rounding, too.
// Exit code 1 when anything differs.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { openDataset } from "../dist/dataset/index.js";
import { InferOptError, loadModel, printGraph, runFuse, saveModel } from "../dist/index.js";
import { convertOpset } from "../dist/passes/opset/convert-opset.js";
import { DifferenceSum } from "../dist/runtime/ort/child/output-difference.js";
import { fuseConfig, inProcess, reasonOf, session } from "./in-process.mjs";

/** Of the largest magnitude of an output: what another order of rounding may change. */
const ROUNDING = 1e-4;
/** How near to the suite's own outputs, which another implementation computed. */
const EXPECTED_RELATIVE = 1e-3;
const EXPECTED_ABSOLUTE = 1e-5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    opset: { type: "string" },
    "runtime-specific": { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const steps = values.opset === undefined ? { "read-write": readWrite, fuse } : { convert };
if (positionals.length === 0) {
  console.error(
    "usage: node bench/conformance.mjs FOLDER... [--only TEXT] [--opset N] [--runtime-specific] [--json FILE]",
  );
  process.exit(2);
}

const records = [];
await inProcess("conformance", async (context) => {
  for (const root of positionals) {
    const folders = modelFolders(root).filter((folder) => !values.only || folder.includes(values.only));
    for (const folder of folders) {
      records.push({ name: join(basename(root), relative(root, folder)), ...(await examine(folder, context)) });
      if (process.stderr.isTTY) process.stderr.write(`\r${records.length} ${basename(folder).slice(0, 60).padEnd(60)}`);
    }
  }
});
if (records.length === 0) {
  console.error("no folder with model.onnx and test_data_set_* was found");
  process.exit(2);
}
if (values.json) writeFileSync(values.json, JSON.stringify(records, null, 1));
process.exitCode = print(records) ? 0 : 1;

function modelFolders(root) {
  return readdirSync(root, { recursive: true })
    .filter((path) => basename(path) === "model.onnx")
    .map((path) => join(root, path, ".."))
    .filter((folder) => readdirSync(folder).some((name) => name.startsWith("test_data_set_")))
    .sort();
}

/** Why the model is left out, or what each step made of it. */
async function examine(folder, context) {
  const original = join(folder, "model.onnx");
  return { text: compareText(original, context), ...(await examineRuns(original, folder, context)) };
}

function textOf({ graph }) {
  return printGraph(graph, { valuesUpTo: Number.POSITIVE_INFINITY, types: true });
}

/** Also of models that the runtime refuses. */
function compareText(original, { scratch }) {
  const path = join(scratch, "text.onnx");
  try {
    const before = loadModel(original);
    saveModel(before, path).commit();
    const after = loadModel(path);
    const same = textOf(before) === textOf(after);
    return { state: same ? "equal" : "different", reason: same ? "" : "the text of the graph changed" };
  } catch (thrown) {
    if (!(thrown instanceof InferOptError)) return { state: "crashed", reason: thrown.stack };
    return { state: "refused", reason: reasonOf(thrown) };
  } finally {
    rmSync(path, { force: true });
  }
}

async function examineRuns(original, folder, context) {
  let reference;
  try {
    reference = await runOriginal(original, folder, context);
  } catch (thrown) {
    return { skipped: reasonOf(thrown) };
  }
  const { outputs, expected } = reference;
  if (outputs.length === 0) return { skipped: "random or no tensor in every output" };
  const found = { expected: await meetsExpected(original, expected, outputs, context) };
  for (const [step, make] of Object.entries(steps))
    found[step] = await judge(make, original, folder, reference, context);
  return found;
}

/** Throws when the runtime or the readers of data cannot. */
async function runOriginal(original, folder, { runtime }) {
  const { inputs } = await runtime.describe(original, session);
  const expected = [];
  for await (const sample of (await openDataset(folder, { signature: inputs })).samples()) expected.push(sample);
  // Against itself: what cannot be read or is random cannot be compared later either.
  const itself = await runtime.compare({ baseline: original, candidate: original, data: { path: folder }, session });
  const outputs = itself.filter(({ mismatch, differing }) => mismatch === null && differing === 0);
  return { outputs: outputs.map(({ output }) => output), expected };
}

async function judge(make, original, folder, { outputs, expected }, context) {
  const { runtime, scratch } = context;
  const path = join(scratch, "made.onnx");
  try {
    const { exact, notes } = await make(original, path, folder, context);
    const pairs = outputs.map((output) => [output, output]);
    const differences = await runtime.compare({
      ...{ baseline: original, candidate: path, pairs, session },
      data: { path: folder },
    });
    const wrong = differences.map((difference) => describeWrong(difference, exact)).filter((text) => text !== null);
    const meets = await meetsExpected(path, expected, outputs, context);
    return { state: wrong.length > 0 ? "different" : "equal", reason: wrong.join("; "), notes, expected: meets };
  } catch (thrown) {
    if (!(thrown instanceof InferOptError)) return { state: "crashed", reason: thrown.stack, notes: [] };
    return { state: "refused", reason: reasonOf(thrown), notes: [] };
  } finally {
    rmSync(path, { force: true });
    rmSync(`${path}.data`, { force: true });
  }
}

async function readWrite(original, path) {
  saveModel(loadModel(original), path).commit();
  return { exact: true, notes: [] };
}

async function convert(original, path) {
  const model = loadModel(original);
  convertOpset(model, Number(values.opset));
  saveModel(model, path).commit();
  // The runtime has another kernel for AveragePool from opset 19 on, which sums in another order.
  return { exact: false, notes: [] };
}

async function fuse(original, path, folder, context) {
  const config = (data) => fuseConfig(original, path, data, { runtimeSpecific: values["runtime-specific"] });
  let result;
  try {
    result = await runFuse(config(folder), context);
  } catch (thrown) {
    // The suite feeds infinities and the like on purpose; made-up inputs do for the tool's own check then.
    if (!(thrown instanceof InferOptError) || !thrown.code.startsWith("DATASET_")) throw thrown;
    result = await runFuse(config(null), context);
  }
  const undone = result.passes.filter(({ rejected }) => rejected !== undefined);
  return { exact: false, notes: undone.map(({ name, rejected }) => `${name} was undone: ${rejected}`) };
}

function describeWrong(difference, exact) {
  const { output, mismatch, nanMismatch, differing, elements, maxAbs, maxMagnitude } = difference;
  if (mismatch !== null) return `${output}: ${mismatch}`;
  if (nanMismatch > 0) return `${output}: ${nanMismatch} of ${elements} are NaN on one side`;
  if (differing === 0 || (!exact && maxAbs <= ROUNDING * maxMagnitude)) return null;
  return `${output}: ${differing} of ${elements} differ, by up to ${maxAbs} of ${maxMagnitude}`;
}

/** null when the suite expects nothing of the outputs that can be compared. */
async function meetsExpected(path, samples, outputs, { runtime }) {
  let compared = 0;
  for (const { feeds, references, id } of samples) {
    const got = await runtime.run(path, feeds, session);
    const names = [...got.keys()];
    for (const { name, position, tensor: wanted } of references ?? []) {
      // The suite's files need not name the output; then its number is its place.
      const output = got.has(name) ? name : names[position];
      if (!outputs.includes(output)) continue;
      compared++;
      const sum = new DifferenceSum(output);
      sum.add(wanted, got.get(output), id);
      const { mismatch, nanMismatch, maxAbs, maxMagnitude } = sum.result();
      if (mismatch !== null || nanMismatch > 0) return false;
      if (maxAbs > EXPECTED_RELATIVE * maxMagnitude + EXPECTED_ABSOLUTE) return false;
    }
  }
  return compared > 0 ? true : null;
}

/** Whether all is well. */
function print(all) {
  const examined = all.filter(({ skipped }) => skipped === undefined);
  console.log(`\n${all.length} models, ${examined.length} examined, ${all.length - examined.length} left out:`);
  for (const [reason, names] of grouped(all.filter(({ skipped }) => skipped !== undefined)))
    console.log(`  ${String(names.length).padStart(4)}  ${reason}: ${few(names)}`);
  const texts = (state) => all.filter(({ text }) => text.state === state);
  console.log(
    `\ntext after reading back: ${["equal", "different", "refused", "crashed"].map((s) => `${texts(s).length} ${s}`).join(", ")}`,
  );
  for (const { name, text } of all.filter(({ text }) => text.state !== "equal"))
    console.log(`  ${text.state.padEnd(9)} ${name}: ${text.reason}`);
  console.log(`\nthe suite's own outputs: the original meets them ${countMet(examined, (r) => r.expected)}`);
  let sound = texts("different").length + texts("crashed").length === 0;
  for (const step of Object.keys(steps)) {
    const by = (state) => examined.filter((record) => record[step].state === state);
    console.log(
      `\n${step}: ${["equal", "different", "refused", "crashed"].map((s) => `${by(s).length} ${s}`).join(", ")}; ` +
        `the suite's outputs are met ${countMet(examined, (record) => record[step].expected)}`,
    );
    for (const state of ["different", "refused", "crashed"])
      for (const record of by(state)) console.log(`  ${state.padEnd(9)} ${record.name}: ${record[step].reason}`);
    const broken = examined.filter((record) => record.expected === true && record[step].expected === false);
    for (const { name } of broken) console.log(`  unmet     ${name}: the original meets the suite's outputs`);
    for (const { name, [step]: found } of examined)
      for (const note of found.notes) console.log(`  note      ${name}: ${note}`);
    sound = sound && by("different").length + by("crashed").length + broken.length === 0;
  }
  return sound;
}

function countMet(found, expectedOf) {
  const met = (value) => found.filter((record) => expectedOf(record) === value).length;
  return `${met(true)} times, not ${met(false)} times`;
}

/** By the reason's code, or its first words. */
function grouped(skipped) {
  const groups = new Map();
  for (const { name, skipped: reason } of skipped) {
    const key = reason.split(":")[0];
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return groups;
}

function few(names) {
  const shown = names.slice(0, 3).map((name) => basename(name));
  return names.length > 3 ? `${shown.join(", ")}, ...` : shown.join(", ");
}
