/** Runs a model on one sample again and again with the runtime's profiler on, and reads off it what each node did. */
import { performance } from "node:perf_hooks";
import { median } from "../../../base/statistics.js";
import type { Sample } from "../../../dataset/index.js";
import type { DType } from "../../../ir/index.js";
import type { NodeProfile, ProfiledStep, RunMemory, TensorFacts, TimelineEvent } from "../../node-profile.js";
import type { JobHandler } from "../protocol.js";
import { PROFILE, profileFile } from "./placement.js";
import { type Execution, noted, runsOf } from "./profile.js";
import { emptyDataset, feedsOf, openPart } from "./samples.js";
import { openModel } from "./session.js";

/** Runs that are profiled: as many as fit, within bounds. */
const [LEAST_RUNS, MOST_RUNS] = [5, 60];
const ENOUGH_MS = 1500;

export const profileNodes: JobHandler<"profileNodes"> = async (
  { model: path, data, session, folder, saveOptimizedTo },
  context,
) => {
  const model = await openModel(path, session, context, {
    profilePrefix: `${folder}/${PROFILE}`,
    ...(saveOptimizedTo !== null && { optimizedModel: saveOptimizedTo }),
  });
  try {
    const part = await openPart(data, model.signature.inputs);
    let sample: Sample | null = null;
    for await (const first of part.samples()) {
      sample = first;
      break;
    }
    if (!sample) throw emptyDataset(data.path, path);
    const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
    context.progress(0, MOST_RUNS);
    await model.run(feeds, model.readable, sample.id);
    const started = performance.now();
    const isEnough = (runs: number): boolean =>
      runs >= MOST_RUNS || (runs >= LEAST_RUNS && performance.now() - started > ENOUGH_MS);
    for (let runs = 0; !isEnough(runs); runs++) {
      await model.run(feeds, model.readable, sample.id);
      context.progress(runs + 1, MOST_RUNS);
    }
    model.session.endProfiling();
  } finally {
    await model.release();
  }
  return readNodeProfile(profileFile(folder, path));
};

interface Gathered {
  readonly first: Execution;
  last: Execution;
  readonly ownMs: number[];
  calls: number;
}

/** The first run of the file is the one that warmed up: memory is read off it, and no times. */
export async function readNodeProfile(path: string): Promise<NodeProfile> {
  const steps = new Map<string, Gathered>();
  const runMs: number[] = [];
  let quickest: readonly Execution[] = [];
  let [first, later]: (MemoryNotes | null)[] = [null, null];
  let isFirst = true;
  for await (const { totalMs, executions } of runsOf(path)) {
    if (isFirst) {
      first = memoryOf(executions);
      isFirst = false;
      continue;
    }
    later = memoryOf(executions);
    if (totalMs < Math.min(...runMs, Number.POSITIVE_INFINITY)) quickest = executions;
    runMs.push(totalMs);
    gather(executions, steps);
  }
  const keys = [...steps.keys()];
  return {
    runs: runMs.length,
    leastRunMs: Math.min(...runMs),
    medianRunMs: median(runMs),
    steps: [...steps.values()].map(stepOf),
    timeline: timelineOf(quickest, new Map(keys.map((key, i) => [key, i]))),
    memory: first && later ? runMemory(first, later) : null,
  };
}

function gather(executions: readonly Execution[], steps: Map<string, Gathered>): void {
  const inRun = new Map<string, { ms: number; calls: number; last: Execution }>();
  for (const execution of executions) {
    const known = inRun.get(execution.key) ?? { ms: 0, calls: 0, last: execution };
    known.ms += execution.own / 1000;
    known.calls++;
    known.last = execution;
    inRun.set(execution.key, known);
  }
  for (const [key, { ms, calls, last }] of inRun) {
    const known = steps.get(key) ?? { first: last, last, ownMs: [], calls };
    known.ownMs.push(ms);
    known.last = last;
    known.calls = calls;
    steps.set(key, known);
  }
}

function stepOf({ last, ownMs, calls }: Gathered): ProfiledStep {
  const { name, op, provider } = last.node;
  return {
    name,
    op,
    provider,
    calls,
    leastMs: Math.min(...ownMs),
    medianMs: median(ownMs),
    inputs: tensorsIn(last.args, "input_type_shape"),
    outputs: tensorsIn(last.args, "output_type_shape"),
  };
}

function timelineOf(executions: readonly Execution[], steps: ReadonlyMap<string, number>): TimelineEvent[] {
  const from = Math.min(...executions.map(({ start }) => start));
  return executions
    .map(({ key, start, total }) => ({ step: steps.get(key)!, startMs: (start - from) / 1000, ms: total / 1000 }))
    .sort((a, b) => a.startMs - b.startMs || b.ms - a.ms);
}

/** ONNX's element types as the runtime spells them. */
const spelled: ReadonlyMap<string, DType> = new Map([
  ["float", "f32"],
  ["double", "f64"],
  ["float16", "f16"],
  ["bfloat16", "bf16"],
  ...(["int", "uint"] as const).flatMap((kind) =>
    [2, 4, 8, 16, 32, 64].map((bits) => [`${kind}${bits}`, `${kind[0]}${bits}` as DType] as const),
  ),
  ...(["bool", "string"] as const).map((name) => [name, name] as const),
]);

function tensorsIn(args: string, key: string): TensorFacts[] {
  const text = new RegExp(`"${key}" : (\\[(?:\\{"[^"]*":\\[[-\\d,]*\\]\\},?)*\\])`).exec(args)?.[1] ?? "[]";
  const tensors = JSON.parse(text) as Record<string, number[]>[];
  return tensors.flatMap((tensor) =>
    Object.entries(tensor).map(([name, dims]) => {
      return { dtype: spelled.get(name) ?? null, dims };
    }),
  );
}

/** Bytes in use before the run, the most after a node, and what the arena holds. */
interface MemoryNotes {
  readonly before: number;
  readonly most: number;
  readonly held: number;
}

function memoryOf(executions: readonly Execution[]): MemoryNotes | null {
  const notes = executions.map(({ args }) => noted(args, "mem_bytes_in_use"));
  const first = executions[0];
  const held = noted(executions.at(-1)?.args ?? "", "mem_arena_held");
  const delta = first && noted(first.args, "mem_in_use_delta");
  if (!first || held === null || delta == null || notes.some((note) => note === null)) return null;
  const inUse = notes.map(Number);
  return { before: inUse[0]! - Number(delta), most: Math.max(...inUse), held: Number(held) };
}

/** The first run takes each tensor by itself; the later ones find their plan's block in use when they begin. */
const runMemory = (first: MemoryNotes, later: MemoryNotes): RunMemory => ({
  peakBytes: first.most - first.before,
  plannedBytes: later.most - first.before,
  arenaBytes: later.held,
});
