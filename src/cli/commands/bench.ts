import { InferOptError } from "../../base/errors.js";
import type { LatencySeries } from "../../bench/hdr-log.js";
import type { RunContext } from "../../pipeline/context.js";
import type { LoadConfig } from "../../pipeline/load/run-load.js";
import type { RunResult } from "../../pipeline/result.js";
import { type Command, feedsModels, type Invocation, running } from "../command.js";
import { type ExitCode, exitCode } from "../exit-code.js";
import type { Settings } from "../flags.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { runtimeConfig } from "../settings.js";
import { writeWhole } from "../write-file.js";

export const bench: Command = {
  name: "bench",
  group: "Prove",
  parameters: "<models...>",
  about: "Latency, in turns, against the first",
  note: "With --rate or --trace, requests arrive whether or not those before them are done, and latency counts from their arrival; --budget is for how long. With --pipeline, whole requests to one model are timed, your own steps included, and --budget may also say what each step may take.",
  examples: [
    "infer-opt bench model.onnx --rate 40 --slo p95=20ms --slo p99=50ms --budget 1m --find-max-rate",
    "infer-opt bench model.onnx --pipeline steps.mjs --budget preprocess=10ms,inference=30ms --budget 1m",
  ],
  flags: [
    ...(["eval", ...running, "affinity", "latencyBudget", "noiseCheck"] as const),
    ...([
      "rate",
      "arrivals",
      "trace",
      "concurrency",
      "findMaxRate",
      "pipeline",
      "budgetPercentile",
      "slo",
      "costPerHour",
      "inconclusive",
      "hdrLog",
      "report",
    ] as const),
  ],
  abouts: feedsModels,
  exits: [...changeExits, exitCode.latency, exitCode.inconclusive],
  async run(invocation) {
    const { hdrLog: path } = invocation.settings;
    if (path === null) return time(invocation, {});
    const series: LatencySeries[] = [];
    const from = Date.now();
    let until: number | null = null;
    const onEnd = () => void (until = Date.now());
    try {
      return await time(invocation, { onSeries: (each) => void series.push(each), onEnd });
    } finally {
      // What was timed is written, whatever becomes of reports.
      if (until !== null) {
        const { hdrLog } = await import("../../bench/hdr-log.js");
        writeWhole(path, await hdrLog(series, { toolVersion: invocation.toolVersion, from, until }));
      }
    }
  },
};

interface Listening {
  readonly onSeries?: (series: LatencySeries) => void;
  /** Once all is measured, before it is told. */
  readonly onEnd?: () => void;
}

/** Which of the four ways of timing the flags ask for, and that. */
function time(invocation: Invocation, { onSeries, onEnd }: Listening): Promise<ExitCode> {
  const { more: models, actions } = invocation;
  const settings = withBudget(invocation.settings);
  const { eval: data, noiseCheck, batch: batches, threads, slo, inconclusive, costPerHour } = settings;
  const { pipeline, budgetPercentile: percentile, concurrency: processes, findMaxRate } = settings;
  const load = offeredLoad(settings);
  const budget = settings.latencyBudget.flatMap(({ stages }) => stages);
  const common = { models, data, ...(onSeries && { onSeries }) };
  const run = (measure: (context: RunContext) => Promise<RunResult>): Promise<ExitCode> =>
    runAndDeliver(invocation, async (context) => {
      const result = await measure(context);
      onEnd?.();
      return result;
    });
  if (pipeline !== null) {
    refuseBeside("--pipeline", settings, load !== null);
    const config = { ...common, pipeline, runtime: runtimeConfig(settings), budget, percentile, slo, inconclusive };
    return run((context) => actions.stages(config, context));
  }
  if (budget[0]) {
    const hint = `Add --pipeline FILE.mjs; for the model by itself say --slo p95=${budget[0].ms}ms.`;
    throw fault("--budget", `a limit of stage "${budget[0].stage}" takes a pipeline that has it`, hint);
  }
  if (isSweep(settings) && !load) {
    refuseNoiseCheck(settings, "one batch and one number of threads");
    const runtime = runtimeConfig({ ...settings, batch: [1], threads: [1] });
    const config = { ...common, batches, threads, runtime, slo, costPerHour, inconclusive };
    return run((context) => actions.sweep(config, context));
  }
  const config = { ...common, runtime: runtimeConfig(settings) };
  if (!load) return run((context) => actions.bench({ ...config, noiseCheck }, context));
  refuseNoiseCheck(settings, "no --rate and no --trace");
  const offered = { ...config, offered: load, processes, slo, findMaxRate, inconclusive };
  return run((context) => actions.load(offered, context));
}

const fault = (flag: string, why: string, hint: string): InferOptError =>
  new InferOptError("FLAG_INVALID", "usage", `${flag}: ${why}`, { hint, fields: { flag } });

/** `--budget` takes a time and limits; a config file may have the time as every other command does. */
function withBudget(settings: Settings): Settings {
  const times = settings.latencyBudget.flatMap(({ ms }) => (ms === null ? [] : [ms]));
  if (times.length > 1) throw fault("--budget", "two times to measure for", "Give one time, and limits of stages.");
  return { ...settings, budget: times[0] ?? settings.budget };
}

const isSweep = ({ batch, threads, costPerHour }: Settings): boolean =>
  batch.length > 1 || threads.length > 1 || costPerHour !== null;

/** Throws FLAG_INVALID where flags of a load stand without one, or two loads were asked for. */
function offeredLoad(settings: Settings): LoadConfig["offered"] | null {
  const { rate, arrivals: kind, trace, slo, findMaxRate, concurrency, costPerHour, pipeline, budget } = settings;
  if (rate !== null && trace !== null) {
    throw fault("--trace", "the file says when requests arrive, and --rate does too", "Leave out one of the two.");
  }
  if ((rate !== null || trace !== null) && costPerHour !== null) {
    throw fault("--cost-per-hour", "is about runs back to back", "Leave it out, or --rate and --trace.");
  }
  if (trace !== null) return { trace, untilMs: budget };
  if (rate !== null) return { rate, kind };
  const lonely = [
    ...(slo.length > 0 && !isSweep(settings) && pipeline === null ? ["--slo"] : []),
    ...(findMaxRate ? ["--find-max-rate"] : []),
    ...(concurrency > 1 ? ["--concurrency"] : []),
  ];
  if (lonely.length === 0) return null;
  throw fault(lonely[0]!, "is about requests that arrive", "Say how many: --rate 40, or --trace FILE.");
}

/** Requests of a pipeline go one after the other, in one setting. */
function refuseBeside(flag: string, settings: Settings, isLoaded: boolean): void {
  if (isLoaded) throw fault(flag, "takes requests one after the other", "Leave out --rate and --trace.");
  if (isSweep(settings)) {
    throw fault(flag, "is timed in one setting", "Give one batch and one number of threads, and no --cost-per-hour.");
  }
  refuseNoiseCheck(settings, `no ${flag}`);
}

function refuseNoiseCheck({ noiseCheck }: Settings, instead: string): void {
  if (noiseCheck) throw fault("--noise-check", "compares models by themselves", `Leave it out, or give ${instead}.`);
}
