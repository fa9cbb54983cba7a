/**
 * Whole requests, stage by stage: one after the other, with the stages before the model overlapped, and the model
 * alone, in blocks that take turns, in several processes one after the other.
 */
import { seededRandom } from "../base/random.js";
import { median, quantile } from "../base/statistics.js";
import type { Runtime, StageOrder, StagesSpec, StageTimer } from "../runtime/port.js";
import { ownStages } from "../stages/index.js";
import { type Speedup, speedupOf } from "./speedup.js";

export interface StageTimesOptions {
  readonly budgetMs: number;
  readonly seed: number;
  /** Milliseconds of any fixed moment. */
  readonly clock: () => number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  /** Once the names of all stages are known, before any is timed; what it throws ends it. */
  readonly onOpen?: (names: readonly string[]) => void;
}

export interface StageTimes {
  /** In order: the user's stages before the model, transfer, inference, the user's stages after it. */
  readonly names: readonly string[];
  /** Different requests, which come round again; whether the module brought them. */
  readonly distinct: number;
  readonly hasRequests: boolean;
  readonly processes: number;
  /** One number a request, in order: of each stage, and of all together. */
  readonly stagesMs: readonly Float64Array[];
  readonly requestMs: Float64Array;
  /** Share of each stage in the time of all requests, with its 95 % interval. */
  readonly shares: readonly Share[];
  /** The model by itself on the same tensors, in the same processes. */
  readonly aloneMs: Float64Array;
  /** null where the module allows none, for the reason told. */
  readonly overlap: Overlap | null;
  readonly notOverlapped: string | null;
  readonly peakRssBytes: number;
  /** As told by its processes (`Timer`). */
  readonly allowed: StageTimer["allowed"];
}

export interface Share {
  readonly share: number;
  readonly interval: readonly [low: number, high: number];
}

export interface Overlap extends Speedup {
  /** Requests a second, medians of the blocks. */
  readonly serialPerSecond: number;
  readonly overlappedPerSecond: number;
  /** From start to end of each request while others were under way. */
  readonly requestMs: Float64Array;
}

/** As in a race of models: what is fixed within a process differs between them. */
const PROCESSES = 3;
/** Blocks of each kind in a process, at least; together enough for an interval. */
const LEAST_ROUNDS = 4;
const MOST_ROUNDS = 200;
const BLOCK_MS = 100;
const [LEAST_BLOCK, MOST_BLOCK] = [3, 512];
/** Of a process's time, for warming up. */
const WARM_SHARE = 0.25;
/** The model alone is asked so many times less. */
const ALONE_PART = 4;

/** Rejects as the runtime does, or with the signal's reason; no process stays behind. */
export async function stageTimes(runtime: Runtime, spec: StagesSpec, options: StageTimesOptions): Promise<StageTimes> {
  const { budgetMs, clock, signal, onProgress } = options;
  const until = clock() + budgetMs;
  const random = seededRandom(options.seed);
  const runs: ProcessRuns[] = [];
  let facts: Opened | null = null;
  for (let p = 0; p < PROCESSES; p++) {
    signal?.throwIfAborted();
    const timer = await runtime.stages(spec);
    try {
      if (facts === null) options.onOpen?.(namesOf(timer));
      facts = timer;
      const from = clock();
      const sliceMs = Math.max(0, until - from) / (PROCESSES - p);
      const tell = (now: number): void =>
        onProgress?.(Math.round(100 * (p + Math.min(1, (now - from) / Math.max(1, sliceMs)))), 100 * PROCESSES);
      runs.push(await timeProcess(timer, from + sliceMs, { random, clock, tell, ...(signal && { signal }) }));
      tell(Number.POSITIVE_INFINITY);
    } finally {
      await timer.close();
    }
  }
  return joined(facts!, runs, options.seed);
}

type Opened = Pick<StageTimer, "before" | "after" | "requests" | "hasRequests" | "allowed">;

const namesOf = ({ before, after }: Opened): string[] => [...before, ...ownStages, ...after];

interface Block {
  readonly stagesMs: readonly Float64Array[];
  readonly requestMs: Float64Array;
  /** Of one request of the block. */
  readonly perRequestMs: number;
}

interface ProcessRuns {
  readonly serial: readonly Block[];
  readonly overlapped: readonly Block[];
  readonly alone: readonly Block[];
  readonly impossible: string | null;
  readonly peakRssBytes: number;
}

interface Pace {
  readonly random: ReturnType<typeof seededRandom>;
  readonly clock: () => number;
  readonly tell: (nowMs: number) => void;
  readonly signal?: AbortSignal;
}

async function timeProcess(timer: StageTimer, until: number, pace: Pace): Promise<ProcessRuns> {
  const { random, clock, tell, signal } = pace;
  const blocks: Record<StageOrder, Block[]> = { serial: [], overlapped: [], alone: [] };
  let impossible: string | null = null;
  const run = async (how: StageOrder, requests: number): Promise<number> => {
    signal?.throwIfAborted();
    const { stagesMs, requestMs, wallMs, impossible: why } = await timer.measure(requests, how);
    if (why !== null) impossible = why;
    else blocks[how].push({ stagesMs, requestMs, perRequestMs: wallMs / requests });
    return wallMs / requests;
  };
  const warmUntil = clock() + WARM_SHARE * Math.max(0, until - clock());
  let perRequestMs = await run("serial", LEAST_BLOCK);
  const blockSize = (): number => Math.min(MOST_BLOCK, Math.max(LEAST_BLOCK, Math.ceil(BLOCK_MS / perRequestMs)));
  do {
    perRequestMs = await run("serial", blockSize());
    await run("overlapped", blockSize());
  } while (clock() < warmUntil);
  const size = blockSize();
  for (const warm of Object.values(blocks)) warm.length = 0;
  const orders: readonly StageOrder[] = impossible === null ? ["serial", "overlapped", "alone"] : ["serial", "alone"];
  for (let round = 0; round < LEAST_ROUNDS || (clock() < until && round < MOST_ROUNDS); round++) {
    const first = random.below(orders.length);
    for (const [i] of orders.entries()) {
      const how = orders[(first + i) % orders.length]!;
      await run(how, how === "alone" ? Math.max(1, Math.round(size / ALONE_PART)) : size);
      tell(clock());
    }
  }
  return { ...blocks, impossible, peakRssBytes: await timer.peakRssBytes() };
}

function joined(opened: Opened, runs: readonly ProcessRuns[], seed: number): StageTimes {
  const serial = runs.flatMap((each) => each.serial);
  const stages = serial[0]!.stagesMs.length;
  const impossible = runs.find((each) => each.impossible !== null)?.impossible ?? null;
  return {
    ...{ names: namesOf(opened), processes: runs.length },
    ...{ distinct: opened.requests, hasRequests: opened.hasRequests },
    stagesMs: Array.from({ length: stages }, (_, stage) => flat(serial.map(({ stagesMs }) => stagesMs[stage]!))),
    requestMs: flat(serial.map(({ requestMs }) => requestMs)),
    shares: sharesOf(serial, seed),
    aloneMs: flat(runs.flatMap(({ alone }) => alone.map(({ requestMs }) => requestMs))),
    overlap: impossible === null ? overlapOf(runs, seed) : null,
    notOverlapped: impossible,
    allowed: opened.allowed,
    peakRssBytes: Math.max(...runs.map(({ peakRssBytes }) => peakRssBytes)),
  };
}

const RESAMPLES = 2000;

/** Whole blocks are drawn again: neighbours share the state of the machine. */
function sharesOf(blocks: readonly Block[], seed: number): Share[] {
  const totals = blocks.map(({ requestMs }) => sum(requestMs));
  const parts = blocks[0]!.stagesMs.map((_, stage) => blocks.map(({ stagesMs }) => sum(stagesMs[stage]!)));
  const random = seededRandom(seed);
  const drawn = parts.map(() => new Float64Array(RESAMPLES));
  for (let r = 0; r < RESAMPLES; r++) {
    const picks = blocks.map(() => random.below(blocks.length));
    const total = picks.reduce((ms, i) => ms + totals[i]!, 0);
    for (const [stage, part] of parts.entries()) drawn[stage]![r] = picks.reduce((ms, i) => ms + part[i]!, 0) / total;
  }
  return parts.map((part, stage) => {
    const sorted = drawn[stage]!.sort();
    return { share: sum(part) / sum(totals), interval: [quantile(sorted, 0.025), quantile(sorted, 0.975)] };
  });
}

function overlapOf(runs: readonly ProcessRuns[], seed: number): Overlap {
  const series = (how: "serial" | "overlapped"): number[][] =>
    runs.map((each) => each[how].map(({ perRequestMs }) => perRequestMs));
  const perSecond = (of: readonly (readonly number[])[]): number => 1000 / median(of.flat());
  const [serial, overlapped] = [series("serial"), series("overlapped")];
  return {
    ...speedupOf(serial, overlapped, { confidence: 0.95, seed }),
    serialPerSecond: perSecond(serial),
    overlappedPerSecond: perSecond(overlapped),
    requestMs: flat(runs.flatMap((each) => each.overlapped.map(({ requestMs }) => requestMs))),
  };
}

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

function flat(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
