import { InferOptError } from "../../base/errors.js";
import type { LoadConfig } from "../../pipeline/load/run-load.js";
import { type Command, type Invocation, running } from "../command.js";
import { exitCode } from "../exit-code.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { runtimeConfig } from "../settings.js";

export const bench: Command = {
  name: "bench",
  group: "Prove",
  parameters: "<models...>",
  about: "Latency, in turns, against the first",
  note: "With --rate or --trace, requests arrive whether or not those before them are done, and latency counts from their arrival; --budget is for how long.",
  examples: [
    "infer-opt bench model.onnx int8.onnx --eval test.npz --threads 1 --budget 1m",
    "infer-opt bench model.onnx --rate 40 --slo p95=20ms --slo p99=50ms --budget 1m --find-max-rate",
  ],
  flags: [
    ...(["eval", ...running, "budget", "noiseCheck"] as const),
    ...([
      "rate",
      "arrivals",
      "trace",
      "concurrency",
      "findMaxRate",
      "slo",
      "costPerHour",
      "inconclusive",
      "report",
    ] as const),
  ],
  exits: [...changeExits, exitCode.latency, exitCode.inconclusive],
  run(invocation) {
    const { more, settings, actions } = invocation;
    const { eval: data, noiseCheck, batch: batches, threads, slo, inconclusive, costPerHour } = settings;
    const offered = offeredLoad(invocation);
    const isSwept = batches.length > 1 || threads.length > 1 || costPerHour !== null;
    if (isSwept && !offered) {
      const runtime = runtimeConfig({ ...settings, batch: [1], threads: [1] });
      const config = { models: more, data, batches, threads, runtime, slo, costPerHour, inconclusive };
      return runAndDeliver(invocation, (context) => actions.sweep(config, context));
    }
    const config = { models: more, data, runtime: runtimeConfig(settings) };
    if (!offered) return runAndDeliver(invocation, (context) => actions.bench({ ...config, noiseCheck }, context));
    const { concurrency: processes, findMaxRate } = settings;
    const load = { ...config, offered, processes, slo, findMaxRate, inconclusive };
    return runAndDeliver(invocation, (context) => actions.load(load, context));
  },
};

/** Throws FLAG_INVALID where flags of a load stand without one, or two loads were asked for. */
function offeredLoad({ settings }: Invocation): LoadConfig["offered"] | null {
  const { rate, arrivals: kind, trace, slo, findMaxRate, concurrency, batch, threads, costPerHour } = settings;
  const fault = (flag: string, why: string, hint: string): InferOptError =>
    new InferOptError("FLAG_INVALID", "usage", `${flag}: ${why}`, { hint, fields: { flag } });
  if (rate !== null && trace !== null) {
    throw fault("--trace", "the file says when requests arrive, and --rate does too", "Leave out one of the two.");
  }
  if ((rate !== null || trace !== null) && costPerHour !== null) {
    throw fault("--cost-per-hour", "is about runs back to back", "Leave it out, or --rate and --trace.");
  }
  if (trace !== null) return { trace };
  if (rate !== null) return { rate, kind };
  const isSweep = batch.length > 1 || threads.length > 1 || costPerHour !== null;
  const lonely = [
    ...(slo.length > 0 && !isSweep ? ["--slo"] : []),
    ...(findMaxRate ? ["--find-max-rate"] : []),
    ...(concurrency > 1 ? ["--concurrency"] : []),
  ];
  if (lonely.length === 0) return null;
  throw fault(lonely[0]!, "is about requests that arrive", "Say how many: --rate 40, or --trace FILE.");
}
