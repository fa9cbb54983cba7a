/**
 * What pruning leaves of accuracy, time and size, and what INT8 takes off besides. Each row is one whole command.
 *
 *   node bench/prune.mjs --digits NETS [--rec FOLDER] [--text FOLDER] [--only TEXT] [--out FOLDER] [--json FILE] [--markdown]
 *   node bench/prune.mjs --digits NETS --make PACKAGE --python PYTHON [--seed 7]
 *
 *   --digits  small-resnet.onnx, mobilenet-v3.onnx, digits-calibration.npz, digits-evaluation.npz;
 *             with --make they are trained first (bench/peers/make_prunable.py)
 *   --rec     PP-OCRv4 recognition: model.onnx, calibration.npz, evaluation.npz, and metric.mjs (bench/peers/exact_line.mjs
 *             beside the list of characters that it names)
 *   --text    all-MiniLM-L6-v2: model.onnx, calibration.npz, evaluation.npz
 *
 * One thread. Memory is that of all processes together, sampled every 50 ms from /proc (Linux).
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    ...Object.fromEntries(
      ["digits", "rec", "text", "only", "out", "json", "make", "python", "seed"].map((name) => [
        name,
        { type: "string" },
      ]),
    ),
    markdown: { type: "boolean", default: false },
  },
});
const own = (path) => fileURLToPath(new URL(path, import.meta.url));
const out = resolve(options.out ?? join(tmpdir(), "infer-opt-prune"));
mkdirSync(out, { recursive: true });

if (options.make) {
  const script = own("peers/make_prunable.py");
  const seed = ["--seed", options.seed ?? "7"];
  const made = spawnSync(options.python ?? "python3", [script, options.make, "--out", options.digits, ...seed], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (made.status !== 0) process.exit(1);
}

const digits = (model) => ({
  model: join(options.digits ?? "", model),
  calibration: join(options.digits ?? "", "digits-calibration.npz"),
  evaluation: join(options.digits ?? "", "digits-evaluation.npz"),
  metric: "top1",
});
const folder = (path, metric) => ({
  model: join(path ?? "", "model.onnx"),
  calibration: join(path ?? "", "calibration.npz"),
  evaluation: join(path ?? "", "evaluation.npz"),
  metric: metric ?? join(path ?? "", "metric.mjs"),
});

/** What is wanted: accuracy, speedup, and of INT8 how much more speed at most half a point less. */
const rows = [
  {
    name: "small ResNet, 1.8x",
    given: options.digits,
    ...digits("small-resnet.onnx"),
    flags: ["--target-speedup", "1.8"],
    wanted: [0.985, 1.8],
    int8: 1.5,
  },
  {
    name: "MobileNetV3-like, 1.4x",
    given: options.digits,
    ...digits("mobilenet-v3.onnx"),
    flags: ["--target-speedup", "1.4"],
    wanted: [0.982, 1.4],
  },
  {
    name: "MobileNetV3-like, 2x, learning",
    given: options.digits,
    ...digits("mobilenet-v3.onnx"),
    flags: ["--target-speedup", "2", "--recover"],
    wanted: [0.974, 2],
  },
  {
    name: "PP-OCRv4 rec, 1.25x",
    given: options.rec,
    ...folder(options.rec),
    flags: ["--target-speedup", "1.25"],
    wanted: [0.985, 1.25],
    int8: 1.3,
  },
  {
    name: "MiniLM, hidden units, 1.15x",
    given: options.text,
    ...folder(options.text, "cosine"),
    flags: ["--target-speedup", "1.15", "--include", "*/intermediate/*"],
    wanted: [0.97, 1.15],
  },
].filter(({ name, given }) => given && name.includes(options.only ?? ""));

const done = [];
for (const row of rows) {
  const pruned = join(out, `${row.name.replace(/\W+/g, "-")}.onnx`);
  const data = ["--calibration", row.calibration, "--eval", row.evaluation, "--metric", row.metric];
  const shared = [...data, "--threads", "1", "--json"];
  const watched = await watch(["prune", row.model, "-o", pruned, ...row.flags, "--max-drop", "none", ...shared]);
  const { result } = watched;
  const { accuracy, latency, pruning, output } = result;
  const found = {
    name: row.name,
    float: accuracy.baseline,
    accuracy: accuracy.candidate,
    speedup: latency?.speedup ?? null,
    interval: latency?.speedupInterval ?? null,
    outcome: result.verdict.outcome,
    bytes: [result.model.bytes, output?.bytes ?? null],
    seconds: watched.seconds,
    megabytes: watched.megabytes,
    wanted: row.wanted,
    pareto: pruning.pareto,
    int8: null,
  };
  if (row.int8 && result.verdict.outcome === "met") {
    const { result: whole } = await watch([
      ...["quantize", pruned, "-o", pruned.replace(".onnx", "-int8.onnx"), "--max-drop", "0.5%"],
      ...shared,
    ]);
    found.int8 = {
      outcome: whole.verdict.outcome,
      accuracy: whole.accuracy.candidate,
      speedup: whole.latency?.speedup ?? null,
      interval: whole.latency?.speedupInterval ?? null,
      bytes: whole.output?.bytes ?? null,
      wanted: row.int8,
    };
  }
  done.push(found);
  if (!options.markdown) print([found]);
}
if (options.markdown) print(done);
if (options.json) writeFileSync(options.json, `${JSON.stringify(done, null, 1)}\n`);

/** A command of infer-opt with its result, time, and the memory of all of its processes. */
function watch(args) {
  return new Promise((done, failed) => {
    const started = performance.now();
    const child = spawn(process.execPath, [own("../bin/infer-opt.js"), ...args], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let [text, most] = ["", 0];
    const sampler = setInterval(() => {
      most = Math.max(
        most,
        descendants(child.pid).reduce((sum, pid) => sum + residentBytes(pid), 0),
      );
    }, 50);
    child.stdout.on("data", (part) => {
      text += part;
    });
    child.on("error", failed);
    child.on("close", () => {
      clearInterval(sampler);
      const result = JSON.parse(text);
      if (result.error) failed(new Error(`${args.join(" ")}: ${result.error.message}`));
      else done({ result, seconds: (performance.now() - started) / 1000, megabytes: most / 1e6 });
    });
  });
}

function descendants(pid) {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => descendants(Number(child)))];
}

function residentBytes(pid) {
  return 4096 * Number(textOf(`/proc/${pid}/statm`).split(" ")[1] ?? 0);
}

/** Empty where there is no such process any more, or no /proc. */
function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (["ENOENT", "ESRCH"].includes(thrown.code)) return "";
    throw thrown;
  }
}

function print(all) {
  const ratio = (value) => (value == null ? "" : `${value.toFixed(2)}x`);
  const interval = (bounds) => (bounds ? ` (${bounds.map((bound) => bound.toFixed(2)).join(" to ")})` : "");
  const size = ([before, after]) =>
    `${(before / 1e6).toFixed(2)} to ${after === null ? "-" : (after / 1e6).toFixed(2)} MB`;
  if (options.markdown) {
    console.log(
      "| net | accuracy (original) | wanted | speed | wanted | verdict | size | time, memory |\n|---|--:|--:|--:|--:|---|--:|--:|",
    );
  }
  for (const each of all) {
    const cells = [
      each.name,
      `${each.accuracy.toFixed(4)} (${each.float.toFixed(4)})`,
      each.wanted[0],
      ratio(each.speedup) + interval(each.interval),
      ratio(each.wanted[1]),
      each.outcome,
      size(each.bytes),
      `${each.seconds.toFixed(0)} s, ${each.megabytes.toFixed(0)} MB`,
    ];
    const further = each.int8 && [
      `${each.name}, then INT8`,
      `${each.int8.accuracy.toFixed(4)} (${each.accuracy.toFixed(4)})`,
      (each.accuracy - 0.005).toFixed(4),
      ratio(each.int8.speedup) + interval(each.int8.interval),
      ratio(each.int8.wanted),
      each.int8.outcome,
      size([each.bytes[1], each.int8.bytes]),
      "",
    ];
    for (const row of [cells, further].filter(Boolean)) {
      console.log(options.markdown ? `| ${row.join(" | ")} |` : row.join("   "));
    }
  }
  for (const { name, pareto } of all) {
    console.log(`\n${name}: nets that no other exceeds\n`);
    for (const net of pareto) {
      console.log(
        `- ${ratio(net.speedup)}${interval(net.speedupInterval)}: ${net.accuracy.toFixed(4)}, ${(net.bytes / 1e6).toFixed(2)} MB`,
      );
    }
  }
}
