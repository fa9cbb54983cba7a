// Memory of calibration against the number of samples: `infer-opt calibrate` on 10 samples and on 1,000, which are the given
// ones over and over. A peak is the largest sum of the resident sizes of all processes of the command (Linux; pages that two
// of them share count twice), looked at every 10 ms; of three runs the median. Exit code 1 when the ratio is above --limit.
//
//   node bench/calibration-memory.mjs MODEL --calibration DATA [--many 1000] [--limit 1.1] [--command calibrate]
//
// `--command quantize` measures that instead, without a limit to accuracy. Time by the clock means nothing here.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { inputsOf, openDataset } from "../dist/dataset/index.js";
import { loadModel } from "../dist/ir/index.js";

const FEW = 10;
const RUNS = 3;
const PAGE_BYTES = 4096;
const binary = fileURLToPath(new URL("../bin/infer-opt.js", import.meta.url));
const descrOf = { f32: "<f4", f64: "<f8", i64: "<i8", i32: "<i4", u8: "|u1", i8: "|i1", bool: "|b1" };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calibration: { type: "string" },
    many: { type: "string", default: "1000" },
    limit: { type: "string", default: "1.1" },
    command: { type: "string", default: "calibrate" },
  },
});
if (positionals.length !== 1 || !values.calibration) {
  console.error("usage: node bench/calibration-memory.mjs MODEL --calibration DATA [--many N] [--limit 1.1]");
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "calibration-memory-"));
try {
  const many = Number(values.many);
  const samples = await writeSamples(values.calibration, many);
  const few = await medianPeak(repeat(samples, FEW));
  const most = await medianPeak(repeat(samples, many));
  const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(`${FEW} samples: ${mb(few)}; ${many} samples: ${mb(most)}; ratio ${(most / few).toFixed(3)}`);
  if (most / few > Number(values.limit)) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The inputs of each sample as .npy files; as many samples as are wanted at most. */
async function writeSamples(path, most) {
  mkdirSync(join(scratch, "data"));
  const dataset = await openDataset(path, { signature: inputsOf(loadModel(positionals[0]).graph) });
  const written = [];
  for await (const { feeds } of dataset.samples(Array.from({ length: Math.min(most, dataset.count) }, (_, i) => i))) {
    const inputs = {};
    for (const [name, tensor] of feeds) {
      inputs[name] = `${written.length}-${Object.keys(inputs).length}.npy`;
      writeFileSync(join(scratch, "data", inputs[name]), npy(tensor));
    }
    written.push({ inputs });
  }
  return written;
}

function npy(tensor) {
  const { dtype, dims } = tensor;
  const shape = `(${dims.map((dim) => `${dim},`).join("")})`;
  const dict = `{'descr': '${descrOf[dtype]}', 'fortran_order': False, 'shape': ${shape}}`;
  const header = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11);
  const length = header.length + 1;
  const start = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, length & 255, length >> 8]);
  return Buffer.concat([start, Buffer.from(`${header}\n`, "latin1"), tensor.bytes()]);
}

function repeat(samples, count) {
  const repeated = Array.from({ length: count }, (_, i) => samples[i % samples.length]);
  writeFileSync(join(scratch, "data", "manifest.json"), JSON.stringify({ version: 1, samples: repeated }));
  return join(scratch, "data");
}

async function medianPeak(data) {
  const peaks = [];
  for (let i = 0; i < RUNS; i++) peaks.push(await peakOf(data));
  return peaks.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
}

function peakOf(data) {
  const output = join(scratch, values.command === "calibrate" ? "ranges.json" : "out.onnx");
  const flags = values.command === "calibrate" ? [] : ["--max-drop", "none"];
  const argv = [
    values.command,
    resolve(positionals[0]),
    "--calibration",
    data,
    "-o",
    output,
    "--threads",
    "1",
    ...flags,
  ];
  const child = spawn(process.execPath, [binary, ...argv, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(
      peak,
      family(child.pid).reduce((sum, pid) => sum + residentBytes(pid), 0),
    );
  }, 10);
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", (code) => {
      clearInterval(timer);
      // Codes of 10 and above are verdicts: the command did its work.
      if (code !== 0 && (code < 10 || code > 13)) failed(new Error(`${values.command} ended with code ${code}`));
      else done(peak);
    });
  });
}

/** A process and all below it. */
function family(pid) {
  const below = orNothing([], () =>
    readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    ),
  );
  return [pid, ...below.flatMap(family)];
}

function residentBytes(pid) {
  return orNothing(0, () => Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]) * PAGE_BYTES);
}

/** Processes end while they are looked at. */
function orNothing(nothing, look) {
  try {
    return look();
  } catch (thrown) {
    if (thrown.code === "ENOENT" || thrown.code === "ESRCH") return nothing;
    throw thrown;
  }
}
