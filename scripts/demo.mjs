// Optimizes the shipped digit classifier with the shipped samples, through the same
// command that users type, and prints what it was before and what it is now.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = "demo-output";
const resultFile = `${folder}/result.json`;
// What an earlier demo left must not pass for the work of this one.
rmSync(`${root}/${folder}`, { recursive: true, force: true });
mkdirSync(`${root}/${folder}`, { recursive: true });

const args = [
  ...["optimize", "fixtures/models/digits.onnx", "-o", `${folder}/digits.onnx`],
  ...["--calibration", "calibration/digits/calibration.npz"],
  ...["--eval", "calibration/digits/evaluation.npz", "--metric", "top1", "--threads", "1"],
  ...["--report", resultFile, "--report", `${folder}/result.md`],
];
console.log(`$ infer-opt ${args.join(" ")}\n`);
const { status, signal } = spawnSync(process.execPath, ["bin/infer-opt.js", ...args], { cwd: root, stdio: "inherit" });
process.exitCode = judge(status ?? (signal === "SIGINT" ? 130 : 1));

function judge(code) {
  // Codes below 10 are faults: the command has said what went wrong, and there is no result.
  if (code !== 0 && code < 10) return code;
  if (code === 130) return code;
  const result = JSON.parse(readFileSync(`${root}/${resultFile}`, "utf8"));
  summarize(result);
  if (code !== 12) return code;
  return explainNoGain(result);
}

function summarize({ model, output, accuracy, latency, verdict }) {
  const after = (show) => (output ? show(output) : "-");
  console.log(`\n           ${cell("before")}${cell("after")}`);
  console.log(`accuracy   ${cell(percent(accuracy?.baseline))}${cell(percent(accuracy?.candidate))}`);
  console.log(`size       ${cell(kilobytes(model))}${cell(after(kilobytes))}`);
  console.log(`latency    ${cell(ms(latency?.baseline))}${cell(ms(latency?.candidate))}`);
  console.log(`verdict    ${verdict.status}: ${verdict.summary}`);
  if (output) console.log(`written    ${output.path}`);
}

// A machine without 8-bit dot products may rightly be told "no gain": that is the tool
// at work, as long as the run was whole and no file claims otherwise.
function explainNoGain({ environment, accuracy, latency, output, candidates }) {
  const int8 = ["avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm", "svei8mm"];
  const found = environment.flags.filter((flag) => int8.includes(flag));
  if (found.length > 0) {
    console.log(`\nNo gain although this CPU has ${found.join(", ")}: the demo expects one here.`);
    return 12;
  }
  console.log(
    `\n${environment.cpu} has no 8-bit dot product that we know of (flags: ${environment.flags.join(" ") || "unknown"}).`,
  );
  console.log("INT8 gains no time without one, so the tool refused to write a file: that is the right answer here.");
  const isSound = accuracy !== null && latency !== null && output === null && candidates.length > 0;
  return isSound ? 0 : 12;
}

function cell(text) {
  return text.padStart(12);
}

function percent(value) {
  return value === undefined ? "-" : `${(100 * value).toFixed(1)} %`;
}

function kilobytes({ bytes }) {
  return `${Math.round(bytes / 1000)} kB`;
}

function ms(percentiles) {
  return percentiles ? `${percentiles.p50Ms.toFixed(3)} ms` : "-";
}
