/** A result that no command gives: every panel of the page has something to show, and every kind of mark is there. */
import type { ExecutedNodes } from "../../../src/pipeline/profile/executed-nodes.js";
import type { ProfileFacts } from "../../../src/pipeline/profile/profile-facts.js";
import type { RunResult } from "../../../src/pipeline/result.js";
import { chainOf, graphResult } from "../graph-result.js";
import { sampleResult } from "../sample-result.js";

const percentiles = { p50Ms: 1, p90Ms: 2, p95Ms: 3, p99Ms: 4, p999Ms: null };
const model = { path: "net.onnx", sha256: "a", bytes: 4_000_000, nodes: 4 };
const none = { low: null, high: null };

const at = [0, 0.25, 0.5, 0.95, 0.99, 1];
const tried = (["met", "inconclusive", "missed"] as const).map((status, i) => ({
  ...{ perSecond: 50 * 2 ** i, status },
  latency: { ...percentiles, p50Ms: 1 + i, p95Ms: 3 + 4 * i },
}));
const load = {
  ...{ provider: "cpu", threads: 1, batch: 1, data: "x", rate: 100, processes: 1, durationMs: 1, arrivals: "poisson" },
  models: [
    {
      ...{ model, requests: 1, utilization: 0.5, latency: percentiles, waiting: percentiles, service: percentiles },
      ...{ offeredPerSecond: 1, servedPerSecond: 1, meanWaitingMs: 1, peakRssBytes: 1 },
      bounds: { p50: none, p90: none, p95: none, p99: none, p999: none },
      maxRate: { perSecond: 50, failedPerSecond: 200, tried },
    },
  ],
};

const settings = [1, 2, 4, 8].map((batch, i) => ({
  ...{ model, provider: "cpu", batch, threads: 1, runs: 100 },
  ...{ ...percentiles, p50Ms: 2 * (i + 1), p95Ms: 3 * (i + 1), throughputPerSecond: 500 + 100 * i },
  limits: [{ limit: "slo p95", wanted: 10, got: 3 * (i + 1), status: i < 3 ? "met" : "missed", text: "" }],
  ...{ meetsLimits: i < 3, peakRssBytes: 1e8, costPerMillion: null },
}));

/** More than are told one by one. */
export const MANY = 260;

function profile(): ProfileFacts {
  const nodes = Array.from({ length: MANY }, (_, i) => {
    const [flops, moved, ms] = [1e6 * (1 + (i % 40)), 1e5 * (1 + (i % 7)), 0.01 * (1 + ((i * 13) % 50))];
    return {
      ...{ name: `node ${i}`, op: "Conv", provider: "cpu", calls: 1, ms, flops, bytes: moved },
      ...{ intensity: flops / moved, bound: "compute" as const, peakShare: 0.5 },
    };
  }).sort((a, b) => b.ms - a.ms);
  const one = {
    ...{ model, stages: { loadMs: 1, firstRunMs: 2, run: percentiles }, peakRssBytes: 1e8 },
    ...{ runs: 5, runMs: 9, nodesMs: nodes.reduce((sum, { ms }) => sum + ms, 0), flops: 1e9, bytes: 1e8 },
    ...{ providers: [{ provider: "cpu", nodes: MANY, ms: 9 }], nodes, bound: null, timeline: [] },
    operators: [{ op: "Conv", provider: "cpu", nodes: MANY, ms: 9, flops: 1e9, bytes: 1e8 }],
    memory: {
      runtime: null,
      activations: { totalBytes: 9e6, peakBytes: 3e6, peakNode: "b", alive: [], along: [1e6, 3e6, 2e6, 1e6] },
    },
  };
  return {
    ...{ provider: "cpu", threads: 1, batch: 1, data: "x", compared: null },
    machine: { flopsPerSecond: 1e11, intOpsPerSecond: 4e11, bytesPerSecond: 2e10 },
    models: [one, { ...one, nodes: nodes.slice(0, 30) }],
  } as unknown as ProfileFacts;
}

const executed = (nodes: readonly string[], ms: readonly number[], providers: readonly string[]): ExecutedNodes => ({
  ...{ nodes, ms, providers, elsewhereMs: 0 },
});

export function everyPanel(parts: Partial<RunResult> = {}): RunResult {
  const result = graphResult();
  const { latency, verdict, candidates } = sampleResult();
  const [a, b, c, d] = ["a", "b", "c", "d"].map((end) => `net/${end}`) as [string, string, string, string];
  const slo = { limit: "slo p95", wanted: 20, got: 21, status: "missed", text: "", unit: "ms" } as const;
  const size = {
    limit: "max-size",
    wanted: 1e6,
    got: 1e6,
    status: "inconclusive",
    text: "",
    unit: "bytes",
    interval: [9e5, 2e6],
  } as const;
  const after = chainOf([c, d, "net/e"], ["Conv", "Gemm", "Softmax"], [1, 2, 0]);
  return {
    ...result,
    model: { ...model, path: "net.onnx" },
    latency: {
      ...latency!,
      distribution: {
        at,
        baselineMs: [20, 22.5, 24.31, 25.9, 27.4, 30],
        candidateMs: [10, 10.8, 11.36, 11.92, 13, 14],
      },
    },
    verdict: { ...verdict, reasons: [...verdict.reasons, slo, size] },
    candidates: [...candidates, { ...candidates[1]!, name: "third", speedup: 1.6 }].map((each, i) => ({
      ...each,
      accuracy: null,
      sqnrDb: [31.2, 55, 20][i]!,
    })),
    graphs: {
      before: result.graphs!.before,
      after: {
        ...after,
        precisions: ["i8", "w4", "f16"],
        weightTypes: ["i8", "f16", "i32"],
        weightBytes: [1000, 2000, 300],
      },
    },
    executed: {
      before: executed([a, b, d], [2, 1, 1.5], ["cuda", "cuda", "cpu"]),
      after: executed([c, d], [0.5, 2], ["cuda", "cpu"]),
    },
    layers: {
      ...{ thresholdDb: 20, samples: 8, compared: MANY, uncompared: 0, first: null, worst: [] },
      along: Array.from({ length: MANY }, (_, i) => {
        const value = i < 2 ? [`${c}:0`, `${d}:0`][i]! : `t${i}`;
        return { value, node: i < 2 ? [c, d][i]! : `n${i}`, op: "Conv", sqnrDb: 40 - 0.1 * i };
      }),
    },
    load: load as unknown as NonNullable<RunResult["load"]>,
    sweep: { settings, best: 2, fastest: 3 } as unknown as NonNullable<RunResult["sweep"]>,
    profile: profile(),
    ...parts,
  };
}
