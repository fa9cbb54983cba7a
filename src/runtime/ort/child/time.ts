/** Times a model: inputs lie ready, and nothing but `run` is between two readings of the clock. */
import { performance } from "node:perf_hooks";
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { invariant } from "../../../base/errors.js";
import { allowedOnceKept, allowedProcessors } from "../../affinity.js";
import type { ColdStart } from "../../port.js";
import type { JobHandler } from "../protocol.js";
import { ownMs } from "../shared-clock.js";
import { betweenSamples } from "./collect-garbage.js";
import { loadedInMs, loadOrt, startedMs } from "./load-ort.js";
import { emptyDataset, feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, refuseUnreadable, runFailed } from "./session.js";

/** Samples held in memory and fed in turn. */
const MAX_SAMPLES = 16;
const SIGN_OF_LIFE_MS = 500;
/** Outputs of so long a time at most pile up. */
const COLLECT_MS = 5;

interface Stand {
  readonly model: OpenModel;
  readonly feeds: readonly Readonly<Record<string, OrtTensor>>[];
  readonly collect: () => void;
  next: number;
}

let stand: Stand | null = null;

/** The clock of a process starts with it, so the load time holds the start of the process too. */
export const timeOpen: JobHandler<"timeOpen"> = async (args, context) => {
  invariant(stand === null, "a process times one model");
  await loadOrt();
  const runtimeBytes = residentBytes();
  const model = await openModel(args.model, args.session, context, {
    keepsThreads: isElsewhere(args.session.affinity),
  });
  const loadMs = performance.now();
  refuseUnreadable(model);
  const start: ColdStart = {
    ...{ processMs: startedMs, runtimeMs: loadedInMs, sessionMs: model.sessionMs },
    ...{ runtimeBytes, sessionBytes: residentBytes() },
  };

  const part = await openPart(args.data, model.signature.inputs);
  const feeds: Record<string, OrtTensor>[] = [];
  for await (const sample of part.samples()) {
    feeds.push(model.feeds(feedsOf(sample, model.signature.inputs)));
    if (feeds.length === MAX_SAMPLES) break;
  }
  if (feeds.length === 0) {
    throw emptyDataset(args.data.path, args.model);
  }
  stand = { model, feeds, collect: betweenSamples(), next: 0 };
  const firstRunMs = await timeOne(stand);
  return { loadMs, firstRunMs, start, allowed: await allowedOnceKept(args.session) };
};

const residentBytes = (): number => process.memoryUsage.rss();

/** Whether this process may run on other processors than those. */
export const isElsewhere = (affinity: readonly number[] | undefined): boolean =>
  affinity !== undefined && allowedProcessors()?.join() !== affinity.join();

export const timeRuns: JobHandler<"timeRuns"> = async ({ runs }, context) => {
  invariant(stand, "the timer is open");
  const times = new Float64Array(runs);
  let told = performance.now();
  let collected = told;
  for (let i = 0; i < runs; i++) {
    times[i] = await timeOne(stand);
    // Whatever is done between runs is felt by small models, whose code and data it drives from the caches.
    const now = performance.now();
    if (now - collected > COLLECT_MS) {
      stand.collect();
      collected = now;
    }
    if (now - told < SIGN_OF_LIFE_MS) continue;
    context.progress(i + 1, runs);
    told = performance.now();
  }
  return times;
};

/** A timer of the system may come late by so much: what is left until a request is waited for awake. */
const AWAKE_MS = 2;

/** Processes that share a load start at one moment of a clock that they share; all else is told by this process's own. */
export const timeServe: JobHandler<"timeServe"> = async ({ arrivalsMs, startAtMs, patience }, context) => {
  invariant(stand, "the timer is open");
  const startMs = new Float64Array(arrivalsMs.length);
  const endMs = new Float64Array(arrivalsMs.length);
  const zero = ownMs(startAtMs);
  let told = performance.now();
  context.due(WAITING_MS + (arrivalsMs[0] ?? 0));
  let served = 0;
  for (const [i, arrival] of arrivalsMs.entries()) {
    if (patience && i >= patience.leastRequests && performance.now() - zero > patience.untilMs) break;
    await until(zero + arrival);
    const before = performance.now();
    await timeOne(stand);
    startMs[i] = before - zero;
    endMs[i] = performance.now() - zero;
    served = i + 1;
    stand.collect();
    const next = arrivalsMs[i + 1];
    const pauseMs = next === undefined ? 0 : zero + next - performance.now();
    if (performance.now() - told < SIGN_OF_LIFE_MS && pauseMs < SIGN_OF_LIFE_MS) continue;
    context.progress(i + 1, arrivalsMs.length);
    if (pauseMs > SIGN_OF_LIFE_MS) context.due(WAITING_MS + pauseMs);
    told = performance.now();
  }
  return { startMs: startMs.slice(0, served), endMs: endMs.slice(0, served) };
};

/** A request that is waited for is no silence. */
const WAITING_MS = 60_000;

async function until(moment: number): Promise<void> {
  const left = moment - performance.now();
  if (left > AWAKE_MS) await new Promise((resolve) => setTimeout(resolve, left - AWAKE_MS));
  while (performance.now() < moment);
}

async function timeOne(stand: Stand): Promise<number> {
  const { model, feeds } = stand;
  const sample = stand.next++ % feeds.length;
  const feed = feeds[sample]!;
  try {
    const started = performance.now();
    await model.session.run(feed, model.readable);
    return performance.now() - started;
  } catch (cause) {
    throw runFailed(model.path, `sample ${sample}`, cause);
  }
}
