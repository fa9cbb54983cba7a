/**
 * Do memory and placement agree with the operating system and with the runtime itself? The peak that `bench` tells of a process
 * against VmHWM in /proc, and nodes and providers of `profile` against the runtime's own profile, taken by a bare session.
 *
 *   node bench/trust/memory-and-placement.mjs [MODEL.onnx...]
 *
 * Needs Linux and `npm run build`. Models with open sizes are fed ones. Without any: made ones, and the digits of fixtures/. Seconds
 * each; load does not matter.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ortRuntime } from "../../dist/runtime/ort/index.js";
import { chainModel, folderOf } from "./made-models.mjs";
import { HELD, MISSED, Proofs, percent } from "./verdict.mjs";

const folder = folderOf("memory");
const digits = fileURLToPath(new URL("../../fixtures/models/digits.onnx", import.meta.url));
const given = process.argv.slice(2);
const models =
  given.length > 0
    ? given
    : [
        digits,
        chainModel(join(folder, "small.onnx"), { layers: 4, rows: 16, width: 128 }),
        chainModel(join(folder, "large.onnx"), { layers: 12, rows: 512, width: 1024 }),
      ];
const session = { provider: "cpu", threads: 1, optimization: "all" };
const data = { path: "random", random: { seed: 1, count: 1 } };
const proofs = new Proofs();

/** Processes that this one started. */
const children = () =>
  readdirSync("/proc").filter((pid) => {
    const path = `/proc/${pid}/stat`;
    if (!/^\d+$/.test(pid) || !existsSync(path)) return false;
    return Number(readFileSync(path, "utf8").split(") ").at(-1).split(" ")[1]) === process.pid;
  });
const highWaterBytes = (pid) => 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

/** In a process of its own: what the runtime writes about one run. */
function bareProfile(model) {
  const script = `
    import { InferenceSession, Tensor } from "onnxruntime-node";
    const session = await InferenceSession.create(${JSON.stringify(model)}, {
      executionProviders: ["cpu"], graphOptimizationLevel: "all", intraOpNumThreads: 1, enableProfiling: true,
      profileFilePrefix: ${JSON.stringify(join(folder, "bare"))},
    });
    const feeds = {};
    for (const { name, type, shape } of session.inputMetadata) {
      const dims = shape.map((dim) => (typeof dim === "number" ? dim : 1));
      const size = dims.reduce((product, dim) => product * dim, 1);
      const array = type === "int64" ? new BigInt64Array(size) : type === "float32" ? new Float32Array(size) : null;
      if (!array) throw new Error("an input of type " + type);
      feeds[name] = new Tensor(type, array, dims);
    }
    await session.run(feeds);
    session.endProfiling();
  `;
  execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  });
  const file = readdirSync(folder)
    .filter((name) => name.startsWith("bare"))
    .sort()
    .at(-1);
  return JSON.parse(readFileSync(join(folder, file), "utf8"))
    .filter(({ cat, name }) => cat === "Node" && name.endsWith("_kernel_time"))
    .map(({ args }) => ({ op: args.op_name, provider: args.provider }));
}

const count = (names) => {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return JSON.stringify(Object.entries(counts).sort());
};

for (const model of models) {
  const name = model.split("/").at(-1);
  const runtime = ortRuntime({ workers: 1 });
  const timer = await runtime.timer({ model, data, session });
  await timer.measure(20);
  const told = await timer.peakRssBytes();
  const [pid, ...more] = children();
  if (more.length > 0) throw new Error(`the timer is one of several processes: ${[pid, ...more].join(", ")}`);
  const seen = highWaterBytes(pid);
  await timer.close();
  const off = told / seen - 1;
  proofs.tell(
    Math.abs(off) <= 0.02 ? HELD : MISSED,
    `${name}, peak memory`,
    `${(told / 1e6).toFixed(1)} MB told, ${(seen / 1e6).toFixed(1)} MB by VmHWM (${percent(off, 2)} off)`,
  );

  const { nodes, providers, operators } = await runtime.placement(model, data, session);
  const bare = bareProfile(model);
  await runtime.close();
  const ours = count(operators.flatMap((row) => Array(row.nodes).fill(`${row.op} on ${row.provider}`)));
  const theirs = count(
    bare.map(({ op, provider }) => `${op} on ${provider.replace("ExecutionProvider", "").toLowerCase()}`),
  );
  proofs.tell(
    ours === theirs && nodes === bare.length ? HELD : MISSED,
    `${name}, placement`,
    `${nodes} nodes, ${providers.map((each) => `${each.nodes} on ${each.provider}`).join(", ")}; the runtime's profile has ${bare.length}`,
  );
  if (ours !== theirs) console.log(`  told ${ours}\n  seen ${theirs}`);
}
proofs.end();
