/** What `bench` and `profile` measure, as their results hold it. */
import * as v from "valibot";
import {
  bounds,
  flag,
  maybe,
  model,
  number,
  pair,
  percentiles,
  placement,
  reasons,
  size,
  status,
  text,
} from "./parts.js";

export const load = v.looseObject({
  ...{ provider: text, threads: number, batch: number, data: text, rate: number, processes: number },
  ...{ durationMs: number, arrivals: v.picklist(["poisson", "constant", "trace"]) },
  models: v.array(
    v.looseObject({
      ...{ model, requests: number, utilization: number, latency: percentiles, waiting: percentiles },
      ...{ service: percentiles, peakRssBytes: v.optional(number), bounds: v.optional(bounds) },
      ...{ offeredPerSecond: v.optional(number), servedPerSecond: v.optional(number) },
      meanWaitingMs: v.optional(number),
      maxRate: v.optional(
        v.looseObject({
          ...{ perSecond: maybe, failedPerSecond: maybe, isCutShort: v.optional(v.boolean()) },
          tried: v.array(
            v.looseObject({
              ...{ perSecond: number, status },
              ...{ latency: v.optional(percentiles), waiting: v.optional(percentiles) },
            }),
          ),
        }),
      ),
    }),
  ),
});

const settings = v.array(
  v.looseObject({
    ...percentiles.entries,
    ...{ model, batch: number, threads: number, throughputPerSecond: size, peakRssBytes: size },
    ...{ runs: v.optional(number), loadMs: v.optional(number), firstRunMs: v.optional(number) },
    ...{ costPerMillion: maybe, limits: reasons },
  }),
);

export const sweep = v.pipe(
  v.looseObject({ provider: text, data: text, costPerHour: maybe, fastest: number, best: maybe, settings }),
  v.check(
    ({ settings: all, fastest, best }) => all[fastest] !== undefined && (best === null || all[best] !== undefined),
    "its best setting is not there",
  ),
);

const stageTimes = v.looseObject({ ...percentiles.entries, meanMs: number, bounds });

export const request = v.pipe(
  v.looseObject({
    ...{ pipeline: text, provider: text, threads: number, data: text },
    ...{ requests: number, distinct: number, processes: number, peakRssBytes: v.optional(number) },
    stages: v.array(
      v.looseObject({ ...stageTimes.entries, name: text, isOwn: v.optional(flag), share: number, shareInterval: pair }),
    ),
    total: stageTimes,
    first: v.looseObject({ stages: v.pipe(v.array(text), v.minLength(1)), ifHalved: number }),
    alone: stageTimes,
    overlap: v.nullable(
      v.looseObject({
        ...{ speedup: number, speedupInterval: pair, serialPerSecond: number, overlappedPerSecond: number },
        latency: percentiles,
      }),
    ),
    notOverlapped: v.nullable(text),
  }),
  v.check(
    ({ stages, first }) => [...first.stages, "inference"].every((name) => stages.some((stage) => stage.name === name)),
    "its first stage is not there",
  ),
);

const work = { ms: size, flops: v.nullable(size), bytes: v.nullable(size) };
const named = v.looseObject({ name: text, node: v.optional(text), bytes: size });

const profiled = v.looseObject({
  model,
  stages: v.looseObject({ loadMs: number, firstRunMs: number, run: percentiles }),
  ...{ runs: v.optional(number), runMs: v.optional(number) },
  ...{ peakRssBytes: size, nodesMs: size, flops: size, bytes: size },
  providers: v.array(v.looseObject({ provider: text, nodes: number, ms: number })),
  operators: v.array(v.looseObject({ ...work, op: text, provider: text, nodes: number })),
  nodes: v.array(
    v.looseObject({
      ...{ ...work, name: text, op: text, provider: v.optional(text), calls: v.optional(number) },
      ...{ intensity: v.nullable(size), peakShare: v.nullable(size) },
      bound: v.nullable(v.picklist(["compute", "memory", "neither", "unknown"])),
    }),
  ),
  bound: v.nullable(v.looseObject({ compute: number, memory: number, neither: number, unknown: number })),
  memory: v.looseObject({
    runtime: v.nullable(v.looseObject({ peakBytes: number, plannedBytes: number, arenaBytes: number })),
    activations: v.nullable(
      v.looseObject({
        ...{ totalBytes: size, peakBytes: size, peakNode: text, alive: v.array(named) },
        along: v.optional(v.array(size)),
        unknown: v.optional(size),
        bodies: v.optional(size),
      }),
    ),
  }),
  timeline: v.array(v.looseObject({ node: text, op: text, startMs: number, ms: number })),
});

/** What a machine reaches. */
const above0 = v.pipe(number, v.gtValue(0));

export const profile = v.looseObject({
  ...{ provider: text, threads: number, batch: number, data: v.optional(text) },
  machine: v.nullable(v.looseObject({ flopsPerSecond: above0, intOpsPerSecond: above0, bytesPerSecond: above0 })),
  models: v.pipe(v.array(profiled), v.minLength(1), v.maxLength(2)),
  compared: v.nullable(
    v.array(
      v.looseObject({
        ...{ value: text, before: v.array(text), after: v.array(text) },
        ...{ beforeMs: number, afterMs: number },
      }),
    ),
  ),
});

const start = { processMs: number, runtimeMs: number, sessionMs: number, firstRunMs: number };

export const bench = v.looseObject({
  ...{ provider: text, threads: number, batch: number, runs: number, processes: number, data: text },
  models: v.array(
    v.looseObject({
      ...percentiles.entries,
      ...{ model, bounds, throughputPerSecond: number, loadMs: number, firstRunMs: number },
      ...{ peakRssBytes: number, speedup: maybe, speedupInterval: v.nullable(pair) },
      coldStart: v.optional(v.looseObject({ ...start, totalMs: number, steadyMs: number })),
      memory: v.optional(v.looseObject({ runtimeBytes: number, sessionBytes: number, peakBytes: number })),
      placement: v.optional(placement),
    }),
  ),
  noise: v.nullable(v.looseObject({ ratio: number, interval: pair })),
});
