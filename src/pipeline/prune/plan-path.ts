/** What narrowing costs and saves, measured; and the path that follows from it. */
import { spread } from "../../base/spread.js";
import { ascending, quantile } from "../../base/statistics.js";
import type { DatasetRef } from "../../dataset/index.js";
import { type Model, type Node, nodesWithin } from "../../ir/index.js";
import { LatencyTable, type ProfiledNet } from "../../pruning/choose/latency-table.js";
import { type GroupError, NarrowingPath } from "../../pruning/choose/narrowing-path.js";
import { NodeShares } from "../../pruning/choose/node-shares.js";
import { uniformWidths, type Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import { isLinear } from "../../pruning/refit/linear-layers.js";
import type { NodeTime } from "../../runtime/port.js";
import { totalMs } from "../candidates/regions.js";
import type { RunContext } from "../context.js";
import { measureLatency } from "../measure/latency.js";
import { asDelivered, removeLinked } from "../model-runs.js";
import { writtenName } from "../output/written-name.js";
import type { RunRecord } from "../run-record.js";
import { branchTrials } from "./branch-trials.js";
import { cutFile, type PruningKnown, removePruned } from "./pruned-file.js";
import type { Ranked } from "./rank-groups.js";

/** Shares of all groups at which nets are profiled. */
const PROFILED_SHARES = [0.75, 0.5, 0.25];
/** How long the whole net is timed by itself. */
const ALONE_MS = 1500;
/** No node takes nothing: of what the profiler says of it. */
const LEAST_OF_NODE = 0.1;
/** Samples that tell what trials miss at the output. */
const TRIAL_SAMPLES = 16;

export interface PathRequest extends PruningKnown {
  readonly groups: readonly ChannelGroup[];
  readonly ranked: ReadonlyMap<ChannelGroup, Ranked>;
  /** The whole net, as the trials are made of it. */
  readonly whole: string;
  readonly block: number;
}

/** What was measured of groups, from which the path follows. */
export interface GroupMeasures {
  readonly errors: ReadonlyMap<ChannelGroup, GroupError>;
  /** The whole net first. */
  readonly nets: readonly ProfiledNet[];
  /** Milliseconds of nets without a branch. */
  readonly without: ReadonlyMap<ChannelGroup, number>;
}

export function pathOf({ errors, nets, without }: GroupMeasures, map: ChannelMap, block: number): NarrowingPath {
  const shares = new NodeShares(map, block);
  const table = new LatencyTable(shares, nets);
  const seen = [...without].map(([group, ms]) => {
    const saved = nets[0]!.totalMs - ms;
    return [group, Math.max(0, saved - table.branchMs(group))] as const;
  });
  // All of them together save no more than no node is known to take, however profiles scatter.
  const all = seen.reduce((sum, [, ms]) => sum + ms, 0);
  const believed = all > table.restMs ? table.restMs / all : 1;
  const besides = seen.map(([group, ms]) => [group, ms * believed] as const);
  return new NarrowingPath(errors, new LatencyTable(shares, nets, new Map(besides)), block);
}

/** Removes the files of the trials. */
export async function measureGroups(request: PathRequest, record: RunRecord): Promise<GroupMeasures> {
  const { context } = record;
  const halves = new Map([...request.ranked].flatMap(([group, { trial }]) => (trial ? [[group, trial.path]] : [])));
  const files = [...halves.values()];
  try {
    const branches = await branchTrials(request, request.groups, record);
    files.push(...branches.values());
    record.doing("profile", "what narrowing costs");
    const errors = await groupErrors(request, { halves, branches }, record);
    record.doing("profile", "what narrowing saves");
    return { errors, ...(await netTimes(request, branches, context)) };
  } finally {
    for (const path of files) removeLinked(path);
  }
}

interface TrialFiles {
  readonly halves: ReadonlyMap<ChannelGroup, string>;
  /** Without the branch that a group is all of. */
  readonly branches: ReadonlyMap<ChannelGroup, string>;
}

/** Share of the output that is missed when a group is at half its width, over what its readers miss then; and without its branch. */
async function groupErrors(
  { ranked, whole, samples, runtime }: PathRequest,
  { halves, branches }: TrialFiles,
  { context, progress }: RunRecord,
): Promise<ReadonlyMap<ChannelGroup, GroupError>> {
  const indices = spread(samples.data.indices!.slice(samples.fitted), TRIAL_SAMPLES);
  const files = [...halves.values(), ...branches.values()];
  const { scores } = await context.runtime.score({
    models: [whole, ...files],
    data: { ...samples.data, indices },
    metric: { kind: "builtin", name: "sqnr" },
    session: asDelivered(runtime),
    isInTurn: true,
    onProgress: progress,
  });
  const missedBy = new Map(files.map((path, i) => [path, missed(scores[i + 1]!)]));
  return new Map(
    [...halves].map(([group, path]) => {
      const { removal, trial } = ranked.get(group)!;
      const local = removal.errors[trial!.removed]!;
      const scale = local > 0 ? missedBy.get(path)! / local : 1;
      const without = branches.get(group);
      return [group, { removal, scale, none: without === undefined ? null : missedBy.get(without)! }] as const;
    }),
  );
}

/** Mean over samples, as a share of what the output is. What a net cannot do without at all costs a lot. */
function missed(decibels: Float64Array): number {
  const share = decibels.reduce((sum, db) => sum + 10 ** (-db / 10), 0) / decibels.length;
  return Number.isFinite(share) ? share : 1e6;
}

async function netTimes(
  request: PathRequest,
  branches: TrialFiles["branches"],
  context: RunContext,
): Promise<Pick<GroupMeasures, "nets" | "without">> {
  const { map, groups, samples, runtime, block } = request;
  const shares: Widths[] = [1, ...PROFILED_SHARES].map((share) => uniformWidths(groups, share, block));
  const files = shares.map((widths) => cutFile(request, widths, context));
  try {
    const data = { ...samples.data, indices: samples.data.indices!.slice(0, 1) };
    const profiles = await context.runtime.nodeTimes(
      [...files.map(({ path }) => path), ...branches.values()],
      data,
      asDelivered(runtime),
    );
    const own = await leastMs(request, data, context);
    const told = withoutOverhead(profiles, own);
    const nets = shares.map((widths, i): ProfiledNet => {
      const times = told[i]!;
      return { widths, times: timesByNode(map.model, times), totalMs: totalMs(times) };
    });
    const without = [...branches.keys()].map((group, i) => [group, totalMs(told[nets.length + i]!)] as const);
    return { nets, without: new Map(without) };
  } finally {
    for (const file of files) removePruned(file);
  }
}

/** What the whole net takes when nobody looks at its nodes. */
async function leastMs({ whole, runtime }: PathRequest, data: DatasetRef, context: RunContext): Promise<number> {
  const { comparison } = await measureLatency(context, {
    baseline: whole,
    candidates: [],
    data,
    runtime: { ...runtime, benchMs: ALONE_MS },
    minSpeedup: null,
    slo: [],
  });
  return quantile(ascending(comparison.baseline.samplesMs), 0.1);
}

/** To look at a node takes time as well, which counts for each alike: that of the whole net tells how much. */
function withoutOverhead(
  profiles: readonly (readonly NodeTime[])[],
  wholeMs: number,
): readonly (readonly NodeTime[])[] {
  const [whole] = profiles as readonly [readonly NodeTime[]];
  const each = Math.max(0, totalMs(whole) - wholeMs) / whole.length;
  return profiles.map((times) =>
    times.map((node) => ({ ...node, ms: Math.max(LEAST_OF_NODE * node.ms, node.ms - each) })),
  );
}

/** The runtime keeps the names of nodes, or gives its own the name of what they make, with something behind it. */
function timesByNode(model: Model, times: readonly NodeTime[]): ReadonlyMap<Node, number> {
  const owners = new Map<string, Node>();
  for (const node of nodesWithin(model.graph)) {
    if (node.graph !== model.graph) continue;
    for (const name of [node.name, ...node.outputs.map((value) => value?.label ?? "")]) {
      if (name !== "" && !owners.has(name)) owners.set(name, node);
    }
  }
  const found = new Map<Node, number>();
  for (const { name, op, ms } of times) {
    const node = workerOf(owners.get(name) ?? owners.get(writtenName(name)) ?? null, op);
    if (node) found.set(node, (found.get(node) ?? 0) + ms);
  }
  return found;
}

/** What activations and sums are part of is named after them: of several layers that are summed the last one. */
function workerOf(named: Node | null, op: string): Node | null {
  if (!/Conv|Gemm|MatMul/.test(op)) return named;
  for (let node = named; node && !isLinear(node) && node.outputs.length === 1; ) {
    const makers = node.inputs.flatMap((value) => value?.producer ?? []);
    const worker = makers.findLast(isLinear);
    if (worker) return worker;
    node = makers.length === 1 ? makers[0]! : null;
  }
  return named;
}
