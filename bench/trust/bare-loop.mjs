/**
 * A process with nothing but onnxruntime-node in it: opens a model, runs it as often as it is told, and gives the times. Of the
 * tool under examination it has only the name of the model.
 */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { chance } from "./latency-sources.mjs";

const { model, input, dims, type = "float32", threads } = JSON.parse(process.argv[2]);
const session = await InferenceSession.create(model, {
  executionProviders: ["cpu"],
  graphOptimizationLevel: "all",
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  executionMode: "sequential",
});
// As the tool makes them up: some kernels take longer for some numbers.
const random = chance(1);
const length = dims.reduce((product, dim) => product * dim, 1);
const data =
  type === "uint8"
    ? Uint8Array.from({ length }, (_, i) => i % 256)
    : Float32Array.from({ length }, () => random.normal());
const feeds = { [input]: new Tensor(type, data, dims) };
await session.run(feeds);

process.on("message", async (runs) => {
  const times = [];
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await session.run(feeds);
    times.push(performance.now() - started);
  }
  process.send(times);
});
process.on("disconnect", () => process.exit(0));
process.send("ready");
