/**
 * `profile`: where a model's time and memory go, by the runtime's own profile, and what keeps each node from being
 * faster. With a second model both stand side by side.
 */
import { InferOptError } from "../../base/errors.js";
import { groupBy } from "../../base/group-by.js";
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel } from "../../ir/index.js";
import type { NodeProfile, ProfiledStep } from "../../runtime/node-profile.js";
import { activationMemory } from "../activation-memory.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { batchOf } from "../evaluation-data.js";
import { watchConditions } from "../measure/conditions.js";
import { measureLatency, percentilesOf, usedProvider } from "../measure/latency.js";
import { timedModels } from "../measure/timed-models.js";
import { asDelivered, scratchFile } from "../model-runs.js";
import type { ModelFacts, RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import type { RequestFacts } from "../stages/request-facts.js";
import { measureRequests, requireOneModel } from "../stages/run-stages.js";
import { type ExecutedGraph, executedGraph } from "./executed-graph.js";
import { executedNodes } from "./executed-nodes.js";
import { machinePeaks } from "./machine-peaks.js";
import { compareNodes } from "./match-nodes.js";
import { workOf } from "./operator-work.js";
import type { ModelProfileFacts, NodeProfileFacts, OperatorProfile, ProfileFacts } from "./profile-facts.js";
import { type RequiredShare, requireShare } from "./required-share.js";
import { type Bound, beatsPeak, higherPeaks, type MachinePeaks, rooflineOf } from "./roofline.js";

export interface ProfileConfig {
  /** One, or two that are compared. */
  readonly models: readonly string[];
  /** A dataset to feed the models with; made-up inputs when null. */
  readonly data: string | null;
  readonly runtime: RuntimeConfig;
  readonly required: readonly RequiredShare[];
  /** A module with the user's stages around the model: whole requests are timed too. */
  readonly pipeline?: string | null;
}

/** The runtime's graph is written with all weights in one message, which may not reach 2 GiB. */
const LARGEST_WRITTEN = 2 ** 30;

interface Profiled {
  readonly model: ModelFacts;
  readonly profile: NodeProfile;
  /** null where the runtime could not write it. */
  readonly graph: ExecutedGraph | null;
}

/** Rejects with FLAG_INVALID for more models than two, PROVIDER_SHARE where a required share is missed, and as running the models does. */
export async function runProfile(config: ProfileConfig, context: RunContext): Promise<RunResult> {
  const [first, second, ...more] = config.models;
  if (first === undefined || more.length > 0) {
    throw new InferOptError("PROFILE_MODELS", "usage", `${config.models.length} models cannot be profiled at once`, {
      hint: "Name one model, or two that are to stand side by side.",
    });
  }
  if (config.pipeline) requireOneModel(config.models);
  const record = new RunRecord("profile", context);
  const { runtime } = config;
  const conditions = watchConditions(runtime, [runtime.threads], record);
  const { models, data } = await record.stage("load", () => timedModels(config.models, config.data, runtime, context));
  // What may be wrong with a module of the user's is told before the long work.
  const { pipeline = null } = config;
  const request = pipeline === null ? null : await requestsOf({ ...config, pipeline }, record);
  const profiled: Profiled[] = [];
  for (const model of models) {
    profiled.push(await record.stage("profile", () => profileModel(model, data, runtime, context)));
  }
  // Before the long work.
  requireShare(config.required, profiled);
  const provider = usedProvider(context, runtime);
  const machine =
    provider === "cpu"
      ? await record.stage("profile", () => undisturbedPeaks(profiled, runtime, record), "machine")
      : null;
  const { comparison, candidates, warnings } = await record.stage("bench", () =>
    measureLatency(context, {
      baseline: first,
      candidates: second === undefined ? [] : [second],
      data,
      runtime,
      minSpeedup: 1,
      slo: [],
      onProgress: record.progress,
    }),
  );
  record.warn(...warnings);
  const latencies = [comparison.baseline, ...comparison.candidates];
  const profile: ProfileFacts = {
    provider,
    threads: runtime.threads,
    batch: batchOf(data),
    data: data.path,
    machine,
    models: profiled.map((each, i) => {
      const { loadMs, firstRunMs, peakRssBytes } = latencies[i]!;
      const stages = { loadMs, firstRunMs, run: percentilesOf(latencies[i]!) };
      return { ...factsOf(each, machine), stages, peakRssBytes };
    }),
    compared: comparedParts(profiled),
  };
  const [before, after] = profiled.map(({ model, graph, profile: { steps } }) =>
    executedNodes(
      loadModel(model.path),
      graph?.model ?? null,
      steps.map(({ name, op, provider, leastMs }) => ({ name, op, provider, ms: leastMs })),
    ),
  );
  return record.result({
    model: models[0]!,
    ...(request && { request }),
    ...(models[1] && { candidateModel: models[1] }),
    latency: candidates[0]?.facts ?? null,
    ...conditions(latencies.flatMap(({ allowed }) => allowed)),
    verdict: { status: "pass", outcome: "met", reasons: [], summary: summaryOf(profile) },
    profile,
    executed: { before: before!, after: after ?? null },
  });
}

/** Measured again where a node beats them; warns where one still does. */
async function undisturbedPeaks(
  profiled: readonly Profiled[],
  runtime: RuntimeConfig,
  record: RunRecord,
): Promise<MachinePeaks> {
  const beating = (peaks: MachinePeaks) => beatsPeak(profiled.flatMap((each) => nodesOf(each, peaks)));
  const first = await machinePeaks(runtime, record.context);
  if (beating(first) === null) return first;
  const peaks = higherPeaks(first, await machinePeaks(runtime, record.context));
  const node = beating(peaks);
  if (node !== null) {
    record.warn(
      `"${node.name || node.op}" is ${node.peakShare.toFixed(1)} times as fast as the product that the peak of arithmetic was measured with: ` +
        "the machine was busy then, and what bounds nodes may be wrong; profile again when it is idle",
    );
  }
  return peaks;
}

async function requestsOf(
  { models, pipeline, data, runtime }: ProfileConfig & { readonly pipeline: string },
  record: RunRecord,
): Promise<RequestFacts> {
  const nothingToHold = { budget: [], percentile: "p95", slo: [], inconclusive: "fail" } as const;
  return (await measureRequests({ models, pipeline, data, runtime, ...nothingToHold }, record)).facts;
}

async function profileModel(
  model: ModelFacts,
  data: DatasetRef,
  config: RuntimeConfig,
  context: RunContext,
): Promise<Profiled> {
  const path =
    config.provider === "cpu" && model.bytes <= LARGEST_WRITTEN ? scratchFile(context, "executed") : undefined;
  const profile = await context.runtime.profileNodes(model.path, data, asDelivered(config), path);
  return { model, profile, graph: path === undefined ? null : executedGraph(path, model.path, profile.steps) };
}

function comparedParts([before, after]: readonly Profiled[]): ProfileFacts["compared"] {
  if (!before?.graph || !after?.graph) return null;
  const timed = ({ model, graph, profile: { steps } }: Profiled) => ({ ...graph!, steps, file: loadModel(model.path) });
  return compareNodes(timed(before), timed(after));
}

function factsOf(
  { model, profile, graph }: Profiled,
  machine: MachinePeaks | null,
): Omit<ModelProfileFacts, "stages" | "peakRssBytes"> {
  const nodes = [...nodesOf({ profile, graph }, machine)].sort(mostTime);
  const memory = graph && activationMemory(graph.model.graph);
  return {
    model,
    runs: profile.runs,
    runMs: profile.leastRunMs,
    nodesMs: sum(nodes, ({ ms }) => ms),
    providers: [...groupBy(nodes, ({ provider }) => provider)]
      .map(([provider, of]) => ({ provider, nodes: of.length, ms: sum(of, ({ ms }) => ms) }))
      .sort(mostTime),
    operators: [...groupBy(nodes, ({ op, provider }) => `${provider} ${op}`).values()]
      .map(operatorFacts)
      .sort(mostTime),
    nodes,
    bound: machine && boundTimes(nodes),
    flops: sum(nodes, ({ flops }) => flops ?? 0),
    bytes: sum(nodes, ({ bytes }) => bytes ?? 0),
    memory: {
      runtime: profile.memory,
      activations: memory && {
        totalBytes: memory.totalBytes,
        peakBytes: memory.peakBytes,
        peakNode: memory.peakNode,
        alive: memory.alive,
        along: memory.along,
        unknown: memory.unknown,
        bodies: memory.bodies,
      },
    },
    timeline: profile.timeline.map(({ step, startMs, ms }) => {
      const { name, op } = profile.steps[step]!;
      return { node: name, op, startMs, ms };
    }),
  };
}

const nodesOf = (
  { profile, graph }: Pick<Profiled, "profile" | "graph">,
  machine: MachinePeaks | null,
): readonly NodeProfileFacts[] => profile.steps.map((step, i) => nodeFacts(step, graph?.nodes[i] ?? null, machine));

function nodeFacts(
  { name, op, provider, calls, leastMs, inputs }: ProfiledStep,
  node: ExecutedGraph["nodes"][number],
  machine: MachinePeaks | null,
): NodeProfileFacts {
  const work = node ? workOf(node) : { flops: null, bytes: null };
  const [flops, bytes] = [work.flops, work.bytes].map((each) => (each === null ? null : each * calls)) as [
    number | null,
    number | null,
  ];
  const isInteger = inputs.some(({ dtype }) => dtype === "u8" || dtype === "i8");
  const roofline = machine && rooflineOf({ flops, bytes }, isInteger, leastMs, machine);
  return {
    name,
    op,
    provider,
    calls,
    ms: leastMs,
    flops,
    bytes,
    intensity: flops === null || !bytes ? null : flops / bytes,
    bound: roofline?.bound ?? null,
    peakShare: roofline?.share ?? null,
  };
}

function operatorFacts(nodes: readonly NodeProfileFacts[]): OperatorProfile {
  const { op, provider } = nodes[0]!;
  return {
    op,
    provider,
    nodes: nodes.length,
    ms: sum(nodes, ({ ms }) => ms),
    flops: sum(nodes, ({ flops }) => flops ?? 0),
    bytes: sum(nodes, ({ bytes }) => bytes ?? 0),
  };
}

function boundTimes(nodes: readonly NodeProfileFacts[]): Record<Bound, number> {
  const times: Record<Bound, number> = { compute: 0, memory: 0, neither: 0, unknown: 0 };
  for (const { bound, ms } of nodes) times[bound ?? "unknown"] += ms;
  return times;
}

function summaryOf({ models, machine }: ProfileFacts): string {
  const [first, second] = models as [ModelProfileFacts, ModelProfileFacts?];
  const { bound, nodesMs } = second ?? first;
  const medianOf = ({ stages }: ModelProfileFacts): string => `${Number(stages.run.p50Ms.toPrecision(4))} ms`;
  const median = `median ${second ? `${medianOf(first)} before, ${medianOf(second)} after` : medianOf(first)}`;
  if (!machine || !bound) return median;
  const known = (["compute", "memory", "neither"] as const).map((name) => [name, bound[name]] as const);
  const [name, ms] = known.sort((a, b) => b[1] - a[1])[0]!;
  const words = {
    compute: "bound by arithmetic",
    memory: "bound by memory or caches",
    neither: "far from both peaks: small nodes or slow kernels",
  };
  return `${median}; ${Math.round((100 * ms) / Math.max(nodesMs, Number.MIN_VALUE))} % of the nodes' time ${second ? "after " : ""}is ${words[name]}`;
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

const mostTime = (a: { readonly ms: number }, b: { readonly ms: number }): number => b.ms - a.ms;
