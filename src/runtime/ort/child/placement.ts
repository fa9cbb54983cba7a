/** Runs a model with the runtime's profiler on, and adds up what every node did and where. */
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { performance } from "node:perf_hooks";
import { InferOptError } from "../../../base/errors.js";
import { groupBy } from "../../../base/group-by.js";
import { median } from "../../../base/statistics.js";
import type { Sample } from "../../../dataset/index.js";
import { bodiesOf, type GraphProto, type NodeProto, readModel } from "../../../onnx/index.js";
import type { ConversionTime, OperatorTime, SessionOptions } from "../../port.js";
import { modelBytes } from "../model-bytes.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import { findIslands } from "./float-islands.js";
import type { Records } from "./options.js";
import { isConversion, type Profile, type ProfiledNode, readProfile } from "./profile.js";
import { emptyDataset, feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel } from "./session.js";

type Args = Jobs["placement"]["args"];

const MOST_RUNS = 3;
/** Two will do where they take so long: what disturbs a run is little beside it. */
const TWO_MS = 200;
/** The profiler keeps every event in memory: a model that takes long has many, and needs no more runs. */
const ENOUGH_MS = 3000;
/** The runtime's graph is written with all weights in one message, which may not reach 2 GiB. */
const LARGEST_WRITTEN = 2 ** 30;
/** How the file that the profiler writes begins. */
export const PROFILE = "profile";

export const placement: JobHandler<"placement"> = async (args, context) => {
  const { graph = {} } = readModel(args.model).message;
  const isWritten = canWriteGraph(args) && (args.saveOptimizedTo !== null || hasPairs(graph));
  const optimizedModel = isWritten ? (args.saveOptimizedTo ?? join(args.folder, "optimized.onnx")) : null;
  await profile(args, { ...(optimizedModel !== null && { optimizedModel }) }, context);

  const { runs, nodes } = await readNodes(args.folder, args.model);
  const sum = (of: readonly ProfiledNode[]): number => of.reduce((ms, { leastMs }) => ms + runs * leastMs, 0);
  return {
    runs,
    nodes: nodes.length,
    durationMs: sum(nodes),
    providers: [...groupBy(nodes, ({ provider }) => provider)]
      .map(([provider, of]) => ({ provider, nodes: of.length, durationMs: sum(of) }))
      .sort(mostTimeFirst),
    operators: operators(nodes, sum),
    conversions: conversions(nodes, namesIn(graph), sum),
    islands: optimizedModel === null ? [] : findIslands(optimizedModel, nodes, runs).sort(mostTimeFirst),
    steps: nodes.map(({ name, op, provider, leastMs }) => ({ name, op, provider, ms: leastMs })),
  };
};

/** Runs of each model that is profiled node by node: as many as fit, within bounds. */
const [LEAST_PROFILED, MOST_PROFILED] = [9, 24];
const IN_A_ROW = 3;
const PROFILED_MS = 300;
/** Where half of a model's runs take so much longer than the least, others use the machine: then it takes more runs ... */
const DISTURBED = 1.25;
/** ... by this much, until each node has some that nothing disturbed. */
const LONGER = 3;
/** Where bodies of loops make tens of thousands of events in each run, all of which the profiler keeps in memory and writes. */
const LOOPING_RUNS = 3;

/**
 * Node by node, on one sample, all models in turns in this one process: what else the machine does
 * then befalls all of them, and each has runs that nothing disturbed.
 */
export const nodeTimes: JobHandler<"nodeTimes"> = async ({ models, data, session, folder }, context) => {
  const opened: OpenModel[] = [];
  const folders = models.map((_, i) => join(folder, String(i)));
  const waiting: SessionOptions = { ...session, waiting: "asleep-after-runs" };
  try {
    for (const [i, path] of models.entries()) {
      mkdirSync(folders[i]!);
      opened.push(await openModel(path, waiting, context, { profilePrefix: join(folders[i]!, PROFILE) }));
    }
    const { inputs } = opened[0]!.signature;
    const part = await openPart(data, inputs);
    let sample: Sample | null = null;
    for await (const first of part.samples()) {
      sample = first;
      break;
    }
    if (!sample) throw emptyDataset(data.path, models[0]!);
    const { id } = sample;
    const given = sample;
    const feeds = opened.map((model) => model.feeds(feedsOf(given, model.signature.inputs)));
    const times = opened.map((): number[] => []);
    const loops = hasLoops(readModel(models[0]!).message.graph ?? {});
    const [inARow, least] = loops ? [1, LOOPING_RUNS] : [IN_A_ROW, LEAST_PROFILED];
    // Some in a row, so that each finds its own weights in the caches, as it would alone.
    const round = async (): Promise<void> => {
      for (const [i, model] of opened.entries()) {
        for (let run = 0; run < inARow; run++) {
          const began = performance.now();
          await model.run(feeds[i]!, model.readable, id);
          times[i]!.push(performance.now() - began);
        }
      }
    };
    const started = performance.now();
    for (let runs = 0; ; ) {
      await round();
      runs += inARow;
      context.progress(Math.min(runs, MOST_PROFILED), MOST_PROFILED);
      const longer = !loops && times.some(isDisturbed) ? LONGER : 1;
      const isLate = performance.now() - started > longer * PROFILED_MS * models.length;
      if (runs >= longer * MOST_PROFILED || (runs >= least && isLate)) break;
    }
    for (const { session: ended } of opened) ended.endProfiling();
  } finally {
    for (const model of opened) await model.release();
  }
  const profiles = [];
  for (const [i, path] of models.entries()) profiles.push(await readNodes(folders[i]!, path));
  return profiles.map(({ nodes }) => nodes.map(({ name, op, leastMs }) => ({ name, op, ms: leastMs })));
};

const isDisturbed = (times: readonly number[]): boolean => median(times) > DISTURBED * Math.min(...times);

async function readNodes(folder: string, model: string): Promise<Profile> {
  const { runs, nodes } = await readProfile(profileFile(folder, model), 1);
  if (runs === 0 || nodes.length === 0) throw noProfile(folder, model);
  return { runs, nodes };
}

/** Throws PROFILE_EMPTY where none was written. */
export function profileFile(folder: string, model: string): string {
  // A session that did not come about, of a provider that was replaced, leaves an empty file.
  const file = readdirSync(folder)
    .map((name) => join(folder, name))
    .find((path) => basename(path).startsWith(PROFILE) && statSync(path).size > 0);
  if (file === undefined) throw noProfile(folder, model);
  return file;
}

const noProfile = (folder: string, model: string): InferOptError =>
  new InferOptError("PROFILE_EMPTY", "runtime", `ONNX Runtime wrote no profile of ${model}`, {
    hint: "Check that the temporary folder can be written and has room.",
    fields: { model, folder },
  });

async function profile(
  { model: path, data, session, folder }: Omit<Args, "saveOptimizedTo">,
  records: Records,
  context: JobContext,
) {
  const model = await openModel(path, session, context, { ...records, profilePrefix: join(folder, PROFILE) });
  try {
    const part = await openPart(data, model.signature.inputs);
    const started = performance.now();
    let done = 0;
    context.progress(done, MOST_RUNS);
    for await (const sample of part.samples()) {
      const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
      // The first run takes memory and packs weights; it is told from the others in the profile.
      if (done === 0) await model.run(feeds, model.readable, sample.id);
      await model.run(feeds, model.readable, sample.id);
      context.progress(++done, MOST_RUNS);
      const ranMs = performance.now() - started;
      if (done >= MOST_RUNS || ranMs > ENOUGH_MS || (done > 1 && ranMs > TWO_MS)) break;
    }
    if (done === 0) throw emptyDataset(data.path, path);
    model.session.endProfiling();
  } finally {
    await model.release();
  }
}

/** Other providers may compile nodes, and then the graph cannot be written. */
const canWriteGraph = ({ model, session }: Args): boolean =>
  session.provider === "cpu" && modelBytes(model) <= LARGEST_WRITTEN;

const hasPairs = ({ node = [] }: GraphProto): boolean => node.some(({ op_type }) => op_type === "DequantizeLinear");

function operators(nodes: readonly ProfiledNode[], sum: SumOf): OperatorTime[] {
  return [...groupBy(nodes, ({ op, provider }) => `${provider} ${op}`).values()]
    .map((of) => ({
      op: of[0]!.op,
      provider: of[0]!.provider,
      nodes: of.length,
      calls: of.reduce((calls, node) => calls + node.calls, 0),
      durationMs: sum(of),
    }))
    .sort(mostTimeFirst);
}

function conversions(nodes: readonly ProfiledNode[], inFile: ReadonlySet<string>, sum: SumOf): ConversionTime[] {
  const found = nodes.filter(isConversion);
  return [...groupBy(found, ({ op }) => op)]
    .map(([op, of]) => ({
      op,
      nodes: of.length,
      // The runtime names what it adds.
      inserted: of.filter(({ name, isNamed }) => isNamed && !inFile.has(name)).length,
      durationMs: sum(of),
    }))
    .sort(mostTimeFirst);
}

/** Names of the nodes of a graph and of all bodies. */
const namesIn = (graph: GraphProto): ReadonlySet<string> => new Set([...nodesIn(graph)].map(({ name = "" }) => name));

const hasLoops = (graph: GraphProto): boolean =>
  [...nodesIn(graph)].some(({ op_type }) => op_type === "Loop" || op_type === "Scan");

/** Nodes of a graph and of all bodies. */
function* nodesIn(graph: GraphProto): Iterable<NodeProto> {
  for (const node of graph.node ?? []) {
    yield node;
    for (const body of bodiesOf(node)) yield* nodesIn(body);
  }
}

type SumOf = (nodes: readonly ProfiledNode[]) => number;

const mostTimeFirst = (a: { readonly durationMs: number }, b: { readonly durationMs: number }): number =>
  b.durationMs - a.durationMs;
