/** A stored result, checked as far as the renderers look at it: they must not stumble over a file somebody edited. */
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { InferOptError, messageOf } from "../base/errors.js";
import type { RunResult } from "../pipeline/result.js";
import { parseSavedResult } from "../pipeline/saved-result.js";

const text = v.string();
const number = v.number();
const maybe = v.nullable(v.number());
const sizes = v.array(v.nullable(v.union([number, text])));
const pair = v.tuple([number, number]);
const model = v.looseObject({ path: text, sha256: text, bytes: number, nodes: number });
const percentiles = v.looseObject({
  p50Ms: number,
  p90Ms: v.optional(maybe),
  p95Ms: maybe,
  p99Ms: maybe,
  p999Ms: maybe,
});
const float = v.array(v.looseObject({ node: text, reason: text }));
const layer = v.looseObject({ value: text, node: text, op: text, maxAbs: maybe, relativeL2: maybe, sqnrDb: maybe });

const timed = v.looseObject({ durationMs: number });
const placement = v.looseObject({
  provider: text,
  nodes: number,
  durationMs: number,
  providers: v.array(v.looseObject({ ...timed.entries, provider: text, nodes: number })),
  operators: v.array(v.looseObject({ ...timed.entries, op: text, provider: text, nodes: number })),
  conversions: v.array(v.looseObject({ ...timed.entries, op: text, nodes: number, inserted: number })),
  islands: v.array(v.looseObject({ ...timed.entries, node: text, op: text })),
});

const share = v.looseObject({ op: text, nodes: number, ms: number });

const load = v.looseObject({
  ...{
    provider: text,
    threads: number,
    batch: number,
    data: text,
    rate: number,
    processes: number,
    durationMs: number,
  },
  arrivals: v.picklist(["poisson", "constant", "trace"]),
  models: v.array(
    v.looseObject({
      ...{
        model,
        requests: number,
        utilization: number,
        latency: percentiles,
        waiting: percentiles,
        service: percentiles,
      },
      maxRate: v.optional(
        v.looseObject({
          ...{ perSecond: maybe, failedPerSecond: maybe },
          tried: v.array(v.looseObject({ perSecond: number })),
        }),
      ),
    }),
  ),
});
// What is not finite is null in JSON.
const differences = v.array(
  v.looseObject({
    ...{ output: text, maxAbs: maybe, relativeL2: maybe, sqnrDb: maybe, cosine: maybe },
    intervals: v.optional(
      v.looseObject({
        ...{ rmse: pair, sqnrDb: v.tuple([maybe, maybe]), cosine: pair },
        argmaxAgreement: v.nullable(pair),
      }),
    ),
    ...{ rmse: v.optional(maybe), argmaxAgreement: v.optional(maybe) },
  }),
);
const judged = v.looseObject({ status: v.picklist(["met", "missed", "inconclusive"]) });
const sweep = v.looseObject({
  ...{ provider: text, data: text, costPerHour: maybe, fastest: number, best: maybe },
  settings: v.array(
    v.looseObject({
      ...percentiles.entries,
      ...{ model, batch: number, threads: number, throughputPerSecond: number, peakRssBytes: number },
      ...{ costPerMillion: maybe, limits: v.array(judged) },
    }),
  ),
});
const stageTimes = v.looseObject({ ...percentiles.entries, meanMs: number });
const request = v.looseObject({
  ...{ pipeline: text, provider: text, threads: number, data: text },
  ...{ requests: number, distinct: number, processes: number },
  stages: v.array(v.looseObject({ ...stageTimes.entries, name: text, share: number, shareInterval: pair })),
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
});
const bytesOf = v.looseObject({ name: text, bytes: number });
const profile = v.looseObject({
  ...{ provider: text, threads: number, batch: number },
  machine: v.nullable(v.looseObject({ flopsPerSecond: number, intOpsPerSecond: number, bytesPerSecond: number })),
  models: v.pipe(
    v.array(
      v.looseObject({
        model,
        stages: v.looseObject({ loadMs: number, firstRunMs: number, run: percentiles }),
        ...{ peakRssBytes: number, nodesMs: number, flops: number, bytes: number },
        providers: v.array(v.looseObject({ provider: text, nodes: number, ms: number })),
        operators: v.array(
          v.looseObject({ op: text, provider: text, nodes: number, ms: number, flops: number, bytes: number }),
        ),
        nodes: v.array(
          v.looseObject({
            ...{ name: text, op: text, ms: number, intensity: maybe, peakShare: maybe },
            bound: v.nullable(v.picklist(["compute", "memory", "neither", "unknown"])),
          }),
        ),
        bound: v.nullable(v.looseObject({ compute: number, memory: number, neither: number, unknown: number })),
        memory: v.looseObject({
          runtime: v.nullable(v.looseObject({ peakBytes: number, plannedBytes: number, arenaBytes: number })),
          activations: v.nullable(
            v.looseObject({ totalBytes: number, peakBytes: number, peakNode: text, alive: v.array(bytesOf) }),
          ),
        }),
      }),
    ),
    v.minLength(1),
  ),
  compared: v.nullable(
    v.array(
      v.looseObject({
        ...{ value: text, before: v.array(text), after: v.array(text) },
        ...{ beforeMs: number, afterMs: number },
      }),
    ),
  ),
});

const rendered = v.looseObject({
  commandLine: v.optional(text),
  tool: v.looseObject({ version: text }),
  model,
  baseline: v.optional(model),
  output: v.nullable(model),
  candidateModel: v.optional(model),
  pareto: v.optional(
    v.array(
      v.looseObject({
        ...{ name: text, bytes: number, accuracy: number, speedup: number, chosen: v.boolean() },
        ...{ meetsLimits: v.boolean(), commands: v.array(text) },
      }),
    ),
  ),
  quantization: v.nullable(
    v.looseObject({
      mode: text,
      method: v.nullable(text),
      nodes: number,
      forms: v.optional(v.array(v.looseObject({ node: text, form: text }))),
      regions: v.optional(
        v.array(
          v.looseObject({
            ...{ region: text, nodes: v.array(text), form: text, reason: text },
            ...{ sqnrDb: maybe, beforeMs: number, afterMs: number },
          }),
        ),
      ),
      float,
      why: text,
      notes: v.array(text),
      target: v.optional(text),
      saturable: v.optional(number),
      integers: v.optional(v.looseObject({ integer: number, conversions: number, float })),
      calibration: v.nullable(v.looseObject({ samples: number })),
    }),
  ),
  precision: v.nullable(v.looseObject({ target: text, float, notes: v.array(text) })),
  accuracy: v.nullable(
    v.looseObject({
      metric: text,
      kind: v.picklist(["labels", "agreement", "reference", "smoke"]),
      samples: number,
      baseline: number,
      candidate: number,
      delta: number,
      deltaInterval: pair,
      confidence: number,
    }),
  ),
  latency: v.nullable(
    v.looseObject({
      provider: text,
      threads: number,
      batch: number,
      runs: number,
      baseline: percentiles,
      candidate: percentiles,
      speedup: number,
      speedupInterval: pair,
      distribution: v.optional(
        v.looseObject({ at: v.array(number), baselineMs: v.array(number), candidateMs: v.array(number) }),
      ),
    }),
  ),
  verdict: v.looseObject({
    status: v.picklist(["pass", "fail", "inconclusive"]),
    outcome: v.picklist(["met", "accuracy", "latency", "no-gain", "inconclusive"]),
    summary: text,
    reasons: v.array(
      v.looseObject({
        ...{ limit: text, text, wanted: number, got: maybe },
        status: v.picklist(["met", "missed", "inconclusive"]),
        unit: v.optional(v.picklist(["points", "percent", "metric", "times", "ms", "bytes", "a second"])),
        interval: v.optional(v.tuple([maybe, maybe])),
      }),
    ),
  }),
  candidates: v.array(
    v.looseObject({
      name: text,
      chosen: v.boolean(),
      bytes: number,
      floatNodes: number,
      speedup: maybe,
      sqnrDb: maybe,
      accuracy: maybe,
      reason: text,
    }),
  ),
  difference: differences,
  references: v.optional(v.looseObject({ baseline: differences, candidate: differences })),
  drift: v.optional(v.looseObject({ asWritten: differences, baseline: differences, candidate: differences })),
  warnings: v.array(text),
  resources: v.looseObject({ wallMs: number, peakRssBytes: number }),
  environment: v.looseObject({
    cpu: text,
    flags: v.array(text),
    cores: number,
    platform: text,
    node: text,
    onnxruntime: text,
  }),
  conditions: v.optional(
    v.looseObject({
      governor: v.nullable(text),
      ...{ boost: v.nullable(v.boolean()), smt: v.nullable(v.boolean()) },
      ...{ quotaCores: maybe, memoryBytes: number },
      ...{ load: v.tuple([maybe, maybe]), temperatureC: v.tuple([maybe, maybe]) },
      affinity: v.optional(
        v.looseObject({
          wanted: v.array(number),
          means: v.picklist(["process", "threads"]),
          seen: v.array(v.array(number)),
        }),
      ),
    }),
  ),
  shapes: v.optional(
    v.array(v.looseObject({ port: text, name: text, before: v.nullable(sizes), after: v.nullable(sizes) })),
  ),
  operatorTimes: v.optional(v.looseObject({ before: v.array(share), after: v.array(share) })),
  placement: v.optional(placement),
  layers: v.optional(
    v.looseObject({
      thresholdDb: number,
      samples: number,
      compared: number,
      uncompared: number,
      first: v.nullable(layer),
      worst: v.array(layer),
    }),
  ),
  load: v.optional(load),
  sweep: v.optional(sweep),
  request: v.optional(request),
  pruning: v.optional(
    v.looseObject({
      groups: v.array(v.looseObject({ group: text, kind: text, width: number, kept: number })),
      fitted: v.array(v.looseObject({ node: text })),
      unfitted: float,
      sparsity: v.optional(
        v.looseObject({
          ...{ asked: text, layers: number, weights: number, zeros: number, dense: float },
          compressedBytes: v.looseObject({ before: number, after: number }),
        }),
      ),
      recovery: v.optional(
        v.union([
          v.looseObject({ reason: text }),
          v.looseObject({ step: number, before: number, after: number, blocked: float }),
        ]),
      ),
      pareto: v.array(v.looseObject({ name: text, bytes: number, accuracy: maybe, speedup: number })),
    }),
  ),
  profile: v.optional(profile),
  bench: v.optional(
    v.looseObject({
      provider: text,
      threads: number,
      batch: number,
      runs: number,
      processes: number,
      data: text,
      models: v.array(
        v.looseObject({
          ...percentiles.entries,
          model,
          speedup: maybe,
          speedupInterval: v.nullable(pair),
          peakRssBytes: number,
          coldStart: v.optional(
            v.looseObject({
              ...{ processMs: number, runtimeMs: number, sessionMs: number, firstRunMs: number },
              ...{ totalMs: number, steadyMs: number },
            }),
          ),
          memory: v.optional(v.looseObject({ runtimeBytes: number, sessionBytes: number, peakBytes: number })),
          placement: v.optional(placement),
        }),
      ),
      noise: v.nullable(v.looseObject({ ratio: number, interval: pair })),
    }),
  ),
});

/** Throws RESULT_UNREADABLE, RESULT_INVALID or RESULT_VERSION. */
export function readResult(path: string): RunResult {
  const result = parseSavedResult(path, textOf(path));
  const parsed = v.safeParse(rendered, result);
  if (parsed.success) return result;
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue) ?? "the whole";
  throw new InferOptError(
    "RESULT_INVALID",
    "input",
    `${path} is no result of this program (${where}: ${issue.message.endsWith("received undefined") ? "is missing" : issue.message})`,
    {
      hint: "Name a file that --json or --report FILE.json wrote.",
      fields: { path },
    },
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new InferOptError("RESULT_UNREADABLE", "input", `cannot read the result ${path}: ${messageOf(cause)}`, {
      hint: "Name a file that --json or --report FILE.json wrote.",
      cause,
      fields: { path },
    });
  }
}
