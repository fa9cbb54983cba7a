/**
 * Runs a bundle, from the code that V8 made of it at build time where that fits: without it, compiling takes longer
 * than to fuse a small model. Any other Node, other flags or a damaged file: then it is compiled as ever.
 */
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { isatty } = require("node:tty");
const { debuglog } = require("node:util");
const { setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");
const { isMainThread } = require("node:worker_threads");
const { crc32 } = require("node:zlib");

/** Commands that run models as soon as they have looked at their arguments. */
const runners = ["calibrate", "fold", "fp16", "fuse", "inspect", "optimize", "quantize", "verify"];
/** Of these the ones that run many samples, and how they keep the memory for that (src/runtime/ort/child-process.ts). */
const observers = { calibrate: "steady", optimize: "roomy", quantize: "roomy" };

const [, , command, ...parameters] = process.argv;
const isWork = !process.send && parameters.length > 0 && !parameters.some((each) => each === "--help" || each === "-h");

/** Commands that take their time. */
const watched = [...runners, "bench", "explain", "gate", "profile", "prune", "show"];

/** Whether somebody sits there and watches: then this thread is for that, and the work gets another. */
const isDrawn = isatty(2) && !process.env.CI && process.env.TERM !== "dumb" && !process.env.INFER_OPT_COMPLETE;
exports.isWatched =
  isMainThread &&
  isWork &&
  isDrawn &&
  watched.includes(command) &&
  !parameters.some((each) => each === "--json" || each === "--quiet");

// Before all else: the child loads the runtime while this process reads its own code, and then the model.
if (isWork && !exports.isWatched && runners.includes(command)) {
  require("./ahead.cjs").startAhead(join(__dirname, "start-child.cjs"), observers[command] ?? "frugal");
}

// What the bundles ask of Node, and is not loaded yet. Once a flag has changed Node compiles its own modules too, which
// otherwise come from a cache.
for (const name of ["crypto", "fs/promises", "os", "readline", "stream/promises", "timers/promises"]) {
  require(`node:${name}`);
}
// A child starts no processes.
if (!process.send) require("node:child_process");

/**
 * By V8's major version, for those that are known to have them: others complain. They are set before the script is
 * made, since its code is refused under other flags than it was recorded with.
 */
const engineFlags = [
  // Most commands end within a second or two: with its usual patience (66 KB of byte code run in a function) the engine
  // spends a third of that on optimizing functions that soon are not called any more. Loops over weights still get
  // their turn within milliseconds. Node 22 and later measure their patience otherwise.
  { from: 11, to: 11, flag: "--interrupt-budget=500000" },
  // The room for young objects stays at 2 MB instead of growing to 34, at no cost that can be measured: next to the
  // processes that run models every megabyte here counts.
  { from: 11, to: 13, flag: "--semi-space-growth-factor=1" },
  // See src/base/collect-garbage.ts.
  { from: 11, to: 13, flag: "--no-concurrent-array-buffer-sweeping" },
];
const v8 = Number(process.versions.v8.split(".")[0]);
// They are the whole process's, but once another thread was made under them they count as others in what V8 writes into
// its code: of two threads only the one that works sets them.
if (!exports.isWatched)
  for (const { from, to, flag } of engineFlags) if (v8 >= from && v8 <= to) setFlagsFromString(flag);

/** The exports of NAME.cjs beside this file. */
exports.start = function start(name) {
  const filename = join(__dirname, `${name}.cjs`);
  const text = readFileSync(filename);
  const cachedData = isRecording ? undefined : cacheOf(filename, text);
  // The build leaves nothing but ASCII in it.
  const script = new Script(text.latin1Slice(), { filename, ...(cachedData && { cachedData }) });
  const isCached = cachedData !== undefined && !script.cachedDataRejected;
  debuglog("infer-opt")("%s: %s", name, isCached ? "code from the cache" : "compiled");
  if (isRecording) recordAtEnd(() => writeCache(filename, script.createCachedData(), text));
  const module = { exports: {} };
  const run = script.runInThisContext();
  run(module.exports, createRequire(filename), module, filename, __dirname, (specifier) => import(specifier));
  return module.exports;
};

/** Set by scripts/build.mjs: all that this run compiles goes to the cache. */
const isRecording = process.env.INFER_OPT_RECORD_CODE === "1";

const cacheFile = (filename) => `${filename}.cache`;

/** The code, when it was made of this text by this Node, and is whole: V8 itself does not look at most of that. */
function cacheOf(filename, text) {
  if (!crc32 || !existsSync(cacheFile(filename))) return undefined;
  const cached = readFileSync(cacheFile(filename));
  const code = cached.subarray(SEAL_BYTES);
  return cached.subarray(0, SEAL_BYTES).equals(sealOf(code, text)) ? code : undefined;
}

const SEAL_BYTES = 4;

function sealOf(code, text) {
  const seal = Buffer.alloc(SEAL_BYTES);
  const { arch, platform, version } = process;
  seal.writeUInt32LE(crc32(code, crc32(text, crc32(`${version} ${platform} ${arch}`))));
  return seal;
}

const writeCache = (filename, code, text) =>
  crc32 && writeFileSync(cacheFile(filename), Buffer.concat([sealOf(code, text), code]));

function recordAtEnd(record) {
  const { send } = process;
  if (!send) return void process.on("exit", record);
  // A child is killed when it has no more to do: it records before each answer.
  process.send = (...message) => {
    record();
    return send.apply(process, message);
  };
}
