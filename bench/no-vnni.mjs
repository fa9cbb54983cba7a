// Scores quantized models as a processor without VNNI computes them, by emulation: x86 without it adds products of
// pairs in 16 bits, which saturate.
//
//   node bench/no-vnni.mjs FLOAT.onnx INT8.onnx... --eval DATA [--metric top1] [--samples 40] [--cpu EPYC-Milan]
//
// Prints the metric of each model, on the processor here and on the emulated one, on the same samples. Emulation takes
// 20 to 50 times as long. Needs qemu-x86_64 (Debian: qemu-user) and says so where it is missing (exit code 0).
// Exit code 1 when a model loses more than --within (0.005) by the change of processor.
import { execFileSync, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openDataset } from "../dist/dataset/index.js";
import { parseMetric } from "../dist/metric/index.js";
import { score } from "../dist/runtime/ort/child/score.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    eval: { type: "string" },
    metric: { type: "string", default: "cosine" },
    samples: { type: "string", default: "40" },
    cpu: { type: "string", default: "EPYC-Milan" },
    within: { type: "string", default: "0.005" },
    child: { type: "boolean", default: false },
  },
});
if (positionals.length < 2 || !values.eval) {
  console.error("usage: node bench/no-vnni.mjs FLOAT.onnx INT8.onnx... --eval DATA [--metric M] [--samples N]");
  process.exit(2);
}

if (values.child) console.log(JSON.stringify(await scores()));
else compare();

/** Mean of the metric over evenly spread samples, by model. */
async function scores() {
  const { count } = await openDataset(values.eval);
  const wanted = Math.min(Number(values.samples), count);
  const indices = Array.from({ length: wanted }, (_, i) => Math.floor((i * count) / wanted));
  const { scores: rows } = await score(
    {
      models: positionals,
      data: { path: values.eval, indices },
      metric: parseMetric(values.metric, process.cwd()),
      session: { provider: "cpu", threads: 1, optimization: "all", timeoutMs: 3_600_000 },
      baselineScores: null,
    },
    { progress: () => {}, signal: new AbortController().signal, warn: () => {} },
  );
  return rows.map((row) => row.reduce((sum, value) => sum + value, 0) / row.length);
}

function compare() {
  const emulator = spawnSync("qemu-x86_64", ["--version"]);
  if (emulator.error) {
    console.log("skipped: there is no qemu-x86_64 here (Debian: apt-get install qemu-user)");
    return;
  }
  const script = fileURLToPath(import.meta.url);
  const run = (command, args) => {
    const child = [...args, script, "--child", ...process.argv.slice(2)];
    const text = execFileSync(command, child, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return JSON.parse(text.trim().split("\n").at(-1));
  };
  const here = run(process.execPath, []);
  const there = run("qemu-x86_64", ["-cpu", values.cpu, process.execPath]);
  let isWorse = false;
  for (const [i, model] of positionals.entries()) {
    const lost = here[i] - there[i];
    isWorse ||= i > 0 && lost > Number(values.within);
    console.log(
      `${resolve(model)}: ${values.metric} ${here[i].toFixed(5)} here, ${there[i].toFixed(5)} on ${values.cpu}`,
    );
  }
  process.exitCode = isWorse ? 1 : 0;
}
