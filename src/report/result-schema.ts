/**
 * What a result file of this schema version holds, in one place: files are checked by it when they are read, and
 * schema/result.schema.json is made of it. Fields may be added to any object; none may be renamed, change its meaning, or
 * become required. What is not finite is null in JSON.
 */
import * as v from "valibot";
import type { RunResult } from "../pipeline/result.js";
import { bench, load, profile, request, sweep } from "./schema/measured.js";
import {
  differences,
  flag,
  float,
  layer,
  maybe,
  model,
  number,
  pair,
  percentiles,
  placement,
  reasons,
  size,
  sizes,
  text,
} from "./schema/parts.js";

const told = <T extends v.GenericSchema>(schema: T, description: string) => v.pipe(schema, v.description(description));

const forms = v.picklist(["float", "static", "dynamic", "dynamicRows", "weights16", "weights8", "blocks8", "weights4"]);
const method = v.picklist(["minmax", "moving-average", "percentile", "entropy", "mse"]);

const regions = v.array(
  v.looseObject({
    ...{ region: text, nodes: v.array(text), form: forms, reason: text },
    ...{ sqnrDb: maybe, beforeMs: number, afterMs: number },
  }),
);

const quantization = v.looseObject({
  mode: v.picklist(["static", "dynamic", "weights", "mixed"]),
  bits: v.optional(number),
  method: v.nullable(text),
  nodes: size,
  between: v.optional(number),
  forms: v.optional(v.array(v.looseObject({ node: text, form: forms }))),
  float,
  stored: v.optional(float),
  regions: v.optional(regions),
  why: text,
  target: v.optional(text),
  notes: v.array(text),
  corrections: v.optional(
    v.array(
      v.looseObject({
        ...{ correction: text, isKept: flag, detail: text, beforeDb: maybe, afterDb: maybe },
        ...{ beforePooledDb: v.optional(number), afterPooledDb: v.optional(number), judgedBy: v.optional(text) },
        leftOutGainDb: v.optional(number),
      }),
    ),
  ),
  calibration: v.nullable(v.looseObject({ samples: size, tensors: v.optional(number), data: v.optional(text) })),
  integers: v.optional(v.looseObject({ integer: number, conversions: number, float })),
  saturable: v.optional(number),
});

const accuracy = v.looseObject({
  metric: text,
  kind: v.picklist(["labels", "agreement", "reference", "smoke"]),
  higherIsBetter: v.optional(flag),
  ...{ samples: size, baseline: number, candidate: number, delta: number, deltaInterval: pair, confidence: number },
  answers: v.optional(v.looseObject({ both: size, onlyBefore: size, onlyAfter: size, neither: size })),
  worst: v.optional(v.array(v.looseObject({ sample: number, baseline: number, candidate: number }))),
});

const latency = v.looseObject({
  ...{ provider: text, threads: number, batch: number, runs: number },
  ...{ baseline: percentiles, candidate: percentiles, speedup: number, speedupInterval: pair },
  distribution: v.optional(
    v.pipe(
      v.looseObject({ at: v.array(number), baselineMs: v.array(size), candidateMs: v.array(size) }),
      v.check(
        ({ at, baselineMs, candidateMs }) => at.length === baselineMs.length && at.length === candidateMs.length,
        "its lists have different lengths",
      ),
    ),
  ),
});

const verdict = v.looseObject({
  status: v.picklist(["pass", "fail", "inconclusive"]),
  outcome: v.picklist(["met", "accuracy", "latency", "no-gain", "inconclusive"]),
  summary: text,
  reasons,
});

const graphLists = v.looseObject({
  ...{ name: text, nodes: v.array(text), ops: v.array(text), values: v.array(text) },
  reads: v.array(v.array(number)),
  ...{ precisions: v.array(text), weightBytes: v.array(size), weightTypes: v.array(text), parts: v.array(number) },
});

/** A node in each list at the same place, behind those that it reads. */
function isGraph(graph: v.InferOutput<typeof graphLists>): boolean {
  const { nodes, ops, values, reads, precisions, weightBytes, weightTypes, parts } = graph;
  return (
    [ops, values, reads, precisions, weightBytes, weightTypes, parts].every(({ length }) => length === nodes.length) &&
    reads.every((from, at) => from.every((source) => Number.isInteger(source) && source >= 0 && source < at))
  );
}

const graph = v.nullable(v.pipe(graphLists, v.check(isGraph, "its lists do not describe a graph")));

const calibration = v.looseObject({
  of: number,
  tensors: v.array(
    v.looseObject({
      ...{ tensor: text, elements: number, min: number, max: number },
      histogram: v.looseObject({ from: number, width: size, counts: v.pipe(v.array(size), v.minLength(1)) }),
      ranges: v.pipe(
        v.array(v.looseObject({ method, low: number, high: number, clippedShare: number })),
        v.minLength(1),
      ),
      chosen: v.nullable(method),
    }),
  ),
});

const conditions = v.looseObject({
  governor: v.nullable(text),
  ...{ boost: v.nullable(flag), smt: v.nullable(flag), quotaCores: maybe, memoryBytes: number },
  ...{ load: v.tuple([maybe, maybe]), temperatureC: v.tuple([maybe, maybe]), optimization: v.optional(text) },
  affinity: v.optional(
    v.looseObject({
      ...{ wanted: v.array(number), means: v.picklist(["process", "threads"]), seen: v.array(v.array(number)) },
    }),
  ),
});

const pruning = v.looseObject({
  groups: v.array(
    v.looseObject({ group: text, kind: text, width: number, kept: number, frozen: v.optional(v.nullable(text)) }),
  ),
  fitted: v.array(v.looseObject({ node: text, before: v.optional(maybe), after: v.optional(maybe) })),
  unfitted: v.array(v.looseObject({ node: text, reason: text })),
  sparsity: v.optional(
    v.looseObject({
      ...{ asked: text, layers: size, weights: size, zeros: size },
      dense: v.array(v.looseObject({ node: text, reason: text })),
      compressedBytes: v.looseObject({ before: size, after: size }),
    }),
  ),
  recovery: v.optional(
    v.union([
      v.looseObject({ reason: text }),
      v.looseObject({
        ...{ step: number, before: number, after: number },
        blocked: v.array(v.looseObject({ node: text, reason: text })),
      }),
    ]),
  ),
  pareto: v.array(
    v.looseObject({
      name: text,
      bytes: size,
      accuracy: number,
      speedup: number,
      speedupInterval: v.optional(pair),
      widths: v.optional(v.array(number)),
    }),
  ),
});

const operatorShare = v.looseObject({ op: text, nodes: size, ms: number });

const executedLists = v.looseObject({
  ...{ nodes: v.array(text), ms: v.array(size), providers: v.array(text), elsewhereMs: size },
});
const executed = v.pipe(
  executedLists,
  v.check(
    ({ nodes, ms, providers }: v.InferOutput<typeof executedLists>) =>
      ms.length === nodes.length && providers.length === nodes.length,
    "its lists are not equally long",
  ),
);

const fields = {
  schemaVersion: told(v.literal(1), "Grows when a field is renamed or changes its meaning."),
  command: told(text, "The command that gave the result."),
  commandLine: v.optional(told(text, "As typed, quoted for a shell.")),
  tool: v.looseObject({ version: text }),
  model: told(model, "The model that was read; the baseline of two."),
  baseline: v.optional(told(model, "Of --baseline: what accuracy, speed and size are held against.")),
  output: told(v.nullable(model), "The file that was written; null when none was."),
  candidateModel: v.optional(told(model, "The second model of verify, gate and profile.")),
  passes: v.array(
    v.looseObject({
      ...{ name: text, applied: number, durationMs: number, rejected: v.optional(text) },
      skipped: v.array(v.looseObject({ node: text, reason: text })),
    }),
  ),
  provenance: v.optional(
    told(
      v.array(v.looseObject({ node: text, from: v.array(text) })),
      "What nodes of the output stand for in the model that was read; those that are what they were are left out.",
    ),
  ),
  unfused: v.optional(
    v.array(
      v.looseObject({
        ...{ node: text, op: text, pass: v.nullable(text), reason: text },
        ...{ detail: v.optional(text), help: v.optional(text) },
      }),
    ),
  ),
  quantization: v.nullable(quantization),
  unquantized: v.optional(v.looseObject({ why: text, float, regions: v.optional(regions) })),
  shrinkableBytes: v.optional(size),
  precision: v.nullable(v.looseObject({ target: v.picklist(["f16", "bf16"]), float, notes: v.array(text) })),
  accuracy: v.nullable(accuracy),
  latency: v.nullable(latency),
  verdict: told(verdict, "What became of the declared limits; `outcome` decides the exit code."),
  candidates: v.array(
    v.looseObject({
      ...{ name: text, chosen: flag, bytes: size, quantizedNodes: v.optional(number) },
      ...{ weightNodes: v.optional(number), floatNodes: number },
      ...{ estimate: v.optional(maybe), estimateBeside: v.optional(v.picklist(["original", "rewritten"])) },
      ...{ timed: v.optional(maybe), timedInterval: v.optional(pair) },
      ...{ speedup: maybe, sqnrDb: maybe, accuracy: maybe, reason: text },
    }),
  ),
  pareto: v.optional(
    v.array(
      v.looseObject({
        ...{ name: text, bytes: size, accuracy: number, speedup: number, speedupInterval: v.optional(pair) },
        ...{ chosen: flag, meetsLimits: flag, commands: v.array(text) },
      }),
    ),
  ),
  difference: told(differences, "Between the outputs of both models."),
  warnings: v.array(text),
  stages: v.array(v.looseObject({ stage: text, wallMs: number })),
  resources: v.looseObject({ wallMs: number, peakRssBytes: number }),
  environment: v.looseObject({
    ...{ cpu: text, flags: v.array(text), cores: number, platform: text, node: text, onnxruntime: text },
  }),
  placement: v.optional(placement),
  operatorTimes: v.optional(v.looseObject({ before: v.array(operatorShare), after: v.array(operatorShare) })),
  executed: v.optional(
    told(
      v.looseObject({ before: v.nullable(executed), after: v.nullable(executed) }),
      "What each node took and where it ran; lists with an entry for each node.",
    ),
  ),
  shapes: v.optional(
    v.array(v.looseObject({ port: text, name: text, before: v.nullable(sizes), after: v.nullable(sizes) })),
  ),
  equivalence: v.optional(
    v.looseObject({
      ...{ level: v.picklist(["none", "fast", "full"]), checked: flag },
      inputs: v.nullable(v.picklist(["samples", "made-up"])),
    }),
  ),
  runtimeSpecific: v.optional(
    v.looseObject({
      ...{ kept: flag, made: number, nodes: size, portableNodes: number },
      ...{ speedup: maybe, speedupInterval: v.nullable(pair) },
    }),
  ),
  runtimeSpecificNodes: v.optional(number),
  lossy: v.optional(v.looseObject({ applied: number, largestShift: maybe })),
  references: v.optional(v.looseObject({ baseline: differences, candidate: differences })),
  drift: v.optional(v.looseObject({ asWritten: differences, baseline: differences, candidate: differences })),
  layers: v.optional(
    v.looseObject({
      ...{ thresholdDb: number, samples: size, compared: number, uncompared: number },
      ...{ first: v.nullable(layer), worst: v.array(layer) },
      along: v.optional(v.array(v.looseObject({ value: text, node: text, op: text, sqnrDb: maybe }))),
    }),
  ),
  bench: v.optional(bench),
  configPath: v.optional(text),
  conditions: v.optional(conditions),
  history: v.optional(
    v.looseObject({
      ...{ path: text, runs: number },
      changes: v.array(v.looseObject({ what: text, median: number, now: number, text })),
    }),
  ),
  load: v.optional(load),
  sweep: v.optional(sweep),
  request: v.optional(request),
  pruning: v.optional(pruning),
  profile: v.optional(profile),
  graphs: v.optional(v.looseObject({ before: graph, after: graph })),
  calibration: v.optional(told(calibration, "What calibration saw of each tensor, and the ranges made of it.")),
} satisfies { readonly [Field in keyof Required<RunResult>]: v.GenericSchema };

export const resultSchema = v.looseObject(fields);
