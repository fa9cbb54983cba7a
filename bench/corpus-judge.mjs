// The process behind bench/corpus.mjs: fuses the models it is sent, one after the other, and compares each with its
// original. It says what it is about to do, so that whoever stops it knows what took so long.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { InferOptError, loadModel, runFuse } from "../dist/index.js";
import { countNodes } from "../dist/ir/index.js";
import { fuseConfig, inProcess, reasonOf, session as usual } from "./in-process.mjs";

/** Of the largest magnitude of an output. */
const TOLERANCE = 1e-3;

const options = JSON.parse(process.argv[2]);
const session = { ...usual, timeoutMs: options.answerMs };

await inProcess("corpus", async (context) => {
  const requests = [];
  let wake = () => {};
  process.on("message", (request) => {
    requests.push(request);
    wake();
  });
  const gone = new Promise((resolve) => process.once("disconnect", () => resolve(true)));
  for (;;) {
    const request = requests.shift();
    if (request) process.send({ record: await examine(request, context) });
    else if (await Promise.race([gone, new Promise((resolve) => (wake = () => resolve(false)))])) return;
  }
});

async function examine({ model, name }, context) {
  const path = options.out ? join(options.out, name) : join(context.scratch, "made.onnx");
  mkdirSync(dirname(path), { recursive: true });
  process.send({ step: "run the original" });
  let data;
  try {
    data = await runnable(model, context);
  } catch (thrown) {
    return { state: "left out", reason: reasonOf(thrown) };
  }
  process.send({ step: "fuse" });
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
  process.send({ step: "run the result" });
  try {
    return { ...found, ...(await judge(model, path, data, context)) };
  } catch (thrown) {
    return { ...found, state: "invalid", reason: reasonOf(thrown) };
  } finally {
    if (!options.out) rmSync(path, { force: true });
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
      // It would take as long on other inputs.
      if (thrown.code === "RUNTIME_TIMEOUT") break;
    }
  }
  throw failure;
}

async function judge(model, path, data, { runtime, scratch }) {
  const wrong = wrongOf(await runtime.compare({ baseline: model, candidate: path, data, session }));
  if (wrong === null) return { state: "equal", reason: "" };
  // Where the runtime's own optimizer moves the results as far, rounding explains it.
  const fused = join(scratch, "reference.onnx");
  await runtime.describe(model, { ...session, optimization: "all" }, { saveOptimizedTo: fused });
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
  return fuseConfig(model, output, null, { verify: options.verify, runtimeSpecific: options.runtimeSpecific });
}
