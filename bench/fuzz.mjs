// Rewrites random small models and holds each against its original.
//
//   node bench/fuzz.mjs [--graphs N | --minutes M] [--seed S] [--jobs J] [--recipe NAME]... [--patterns]
//                       [--json FILE] [--keep-size]
//
// Recipes are those of the catalog (fold, fuse, runtime), and what --opset, --shape and fp16 do (opset, shape, half).
// Models are random graphs, and patterns from the tests of the passes, changed a little (test/fuzz); with --patterns, each
// of those as it is comes first. Passes run without the pipeline's own check, so a wrong rewrite shows here although users
// would never get it. Each failure is printed with its seed (--seed S --graphs 1 makes the one model again), the passes to
// blame, and the smallest graph that still fails, as text to paste into a test. Exit code 1 on failures.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/** A model that takes so long does not end. */
const PATIENCE_MS = 300_000;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const built = join(root, "node_modules", ".cache", "fuzz");

const { values } = parseArgs({
  options: {
    graphs: { type: "string" },
    minutes: { type: "string" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "1" },
    recipe: {
      type: "string",
      multiple: true,
      default: ["fold", "fuse", "runtime", "integers", "opset", "shape", "half", "elsewhere"],
    },
    json: { type: "string" },
    patterns: { type: "boolean", default: false },
    "keep-size": { type: "boolean", default: false },
    child: { type: "boolean", default: false },
    from: { type: "string", default: "0" },
    "no-build": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const options = {
  seed: Number(values.seed),
  graphs: Number(values.graphs ?? (values.minutes ? Number.MAX_SAFE_INTEGER : 1000)),
  minutes: Number(values.minutes ?? 24 * 60),
  recipes: values.recipe,
  keepSize: values["keep-size"],
  asTheyAre: values.patterns,
  from: Number(values.from),
};

if (values.help) console.log(usage());
else if (values.child) await work();
else {
  if (!values["no-build"]) build();
  process.exitCode = (await direct()) ? 0 : 1;
}

/** What stands at the top of this file. */
function usage() {
  const lines = readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n");
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("//")),
    )
    .map((line) => line.slice(3))
    .join("\n");
}

/** Compiles sources and tests, with stand-ins for vitest and testRewrite that collect the graphs of the tests. */
function build() {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const flags = ["-p", join(root, "tsconfig.test.json"), "--noEmit", "false", "--outDir", built];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    console.error(stdout);
    process.exit(2);
  }
  write("package.json", '{"type":"module"}');
  write("node_modules/vitest/package.json", '{"type":"module","exports":"./index.js"}');
  write(
    "node_modules/vitest/index.js",
    "const nothing = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => '' : nothing), apply: () => nothing });\n" +
      "export const describe = (_, body) => body?.();\ndescribe.each = () => () => {};\n" +
      "export { nothing as it, nothing as test, nothing as expect, nothing as vi, nothing as beforeAll, nothing as afterAll, nothing as beforeEach, nothing as afterEach, nothing as onTestFinished, nothing as assert };\n",
  );
  write(
    "test/support/test-rewrite.js",
    "export const expectSame = () => {};\n" +
      "const push = ({ name }, text, options) => (globalThis.patterns ??= []).push({ pass: name, text, opset: options?.opset ?? 17 });\n" +
      "export const testRewrite = (pass, { rewrites, leaves }) => {\n" +
      "  for (const given of Object.values(rewrites)) push(pass, ...(typeof given === 'string' ? [given] : given));\n" +
      "  for (const [text, , options] of Object.values(leaves)) push(pass, text, options);\n};\n",
  );
}

function write(path, text) {
  const file = join(built, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The graphs of the tests of all passes. */
async function patterns() {
  const folder = join(built, "test", "passes");
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".test.js"));
  for (const file of files.sort()) await import(pathToFileURL(join(folder, file)).href);
  return globalThis.patterns;
}

/** In the child: one line of JSON an event. */
async function work() {
  const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
  const { campaign } = await import(pathToFileURL(join(built, "test", "fuzz", "campaign.js")).href);
  const result = await campaign(
    options,
    await patterns(),
    (seed, phase) => say({ at: seed, phase }),
    (failure) => say({ failure }),
    (sums) => say({ sums }),
  );
  say({ result });
}

async function direct() {
  const jobs = Number(values.jobs);
  const share = Math.ceil(options.graphs / jobs);
  const started = performance.now();
  const shares = Array.from({ length: jobs }, (_, i) =>
    supervise(options.seed + i * Math.min(share, 1e7), share, options.asTheyAre && i === 0),
  );
  const results = (await Promise.all(shares)).flat();
  const total = summed(results);
  if (values.json) writeFileSync(values.json, JSON.stringify(total, null, 1));
  print(total, (performance.now() - started) / 1000);
  return total.failures.length === 0;
}

/** Runs a child to the end of its models; when it dies twice at one, another goes on behind that. */
async function supervise(seed, graphs, asTheyAre) {
  const results = [];
  const end = Date.now() + options.minutes * 60_000;
  let diedAt = -1;
  for (let from = 0; Date.now() < end; ) {
    const minutes = (end - Date.now()) / 60_000;
    const { result, at, phase, sums, failures, stderr } = await runChild({ seed, graphs, from, minutes, asTheyAre });
    if (result) {
      results.push(result);
      break;
    }
    results.push({ ...emptyResult(), ...sums, failures });
    // The runtime seldom dies of nothing that comes again.
    from = at;
    if (diedAt !== at) {
      diedAt = at;
      continue;
    }
    from = at + 1;
    // It may fall over an odd original, which says nothing about the passes.
    const isOurs = phase !== "original" || stderr.includes("    at ");
    const detail = `model ${at} of seed ${seed}: ${stderr.slice(-2000)}`;
    const crash = { kind: "crashed", recipe: "the child", seed, detail, culprits: [], case: null };
    if (!isOurs) continue;
    show(crash);
    results.push({ ...emptyResult(), failures: [crash] });
  }
  return results;
}

function emptyResult() {
  const counts = { graphs: 0, invalid: 0, unstable: 0, sound: 0, nodesBefore: 0, nodesAfter: 0 };
  return { ...counts, failures: [], applied: {}, operators: [] };
}

function runChild({ seed, graphs, from, minutes, asTheyAre }) {
  const flags = ["--child", "--seed", seed, "--graphs", graphs, "--from", from, "--minutes", minutes];
  const recipes = options.recipes.flatMap((name) => ["--recipe", name]);
  const args = [fileURLToPath(import.meta.url), ...flags.map(String), ...recipes];
  if (asTheyAre) args.push("--patterns");
  if (options.keepSize) args.push("--keep-size");
  const child = spawn(process.execPath, args, { cwd: root });
  let at = from;
  let phase = "original";
  let sums = {};
  let result = null;
  let rest = "";
  let stderr = "";
  const failures = [];
  const tooLong = () => {
    stderr += `it does not end: nothing for ${PATIENCE_MS / 1000} s`;
    child.kill("SIGKILL");
  };
  let patience = setTimeout(tooLong, PATIENCE_MS);
  child.stdout.setEncoding("utf8").on("data", (text) => {
    clearTimeout(patience);
    patience = setTimeout(tooLong, PATIENCE_MS);
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const event of lines.map((line) => JSON.parse(line))) {
      if (event.at !== undefined) ({ at, phase } = event);
      if (event.sums) sums = event.sums;
      if (event.result) result = event.result;
      if (event.failure) {
        failures.push(event.failure);
        show(event.failure);
      }
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return new Promise((resolve) => {
    child.on("close", () => {
      clearTimeout(patience);
      resolve({ result, at, phase, sums, failures, stderr });
    });
  });
}

function show({ seed, kind, recipe, detail, culprits, case: given }) {
  console.log(`\n--- seed ${seed}: ${kind} after ${recipe}${culprits.length ? `, by ${culprits.join(" or ")}` : ""}`);
  console.log(detail.slice(0, 800));
  if (!given) return;
  const notes = [`opset ${given.opset}`];
  if (given.overridable.length) notes.push(`inputs with a default: ${given.overridable.join(", ")}`);
  if (!given.typed) notes.push("without inferred types");
  console.log(`${notes.join("; ")}\n${given.text}`);
}

function summed(results) {
  const total = emptyResult();
  for (const result of results) {
    for (const key of ["graphs", "invalid", "unstable", "sound", "nodesBefore", "nodesAfter"])
      total[key] += result[key];
    total.failures.push(...result.failures);
    for (const [name, count] of Object.entries(result.applied))
      total.applied[name] = (total.applied[name] ?? 0) + count;
    total.operators = [...new Set([...total.operators, ...result.operators])].sort();
  }
  return total;
}

function print(total, seconds) {
  const { graphs, sound, invalid, unstable, failures, nodesBefore, nodesAfter } = total;
  console.log(
    `\n${graphs} graphs in ${seconds.toFixed(0)} s: ${sound} sound, ${failures.length} failed, ${invalid} not valid, ` +
      `${unstable} too sensitive to rounding; nodes ${nodesBefore} -> ${nodesAfter}`,
  );
  const idle = Object.keys(total.applied).filter((name) => total.applied[name] === 0);
  if (idle.length > 0) console.log(`passes that never applied: ${idle.join(", ")}`);
}
