import type { RunResult } from "../../src/pipeline/result.js";

/** A result made by hand, with every field that a format shows; parts of it may be replaced. */
export function sampleResult(parts: Partial<RunResult> = {}): RunResult {
  return {
    schemaVersion: 1,
    command: "optimize",
    tool: { version: "0.1.0" },
    model: { path: "models/net.onnx", sha256: "aa", bytes: 4_000_000, nodes: 175 },
    output: { path: "out/net.int8.onnx", sha256: "bb", bytes: 1_010_000, nodes: 210 },
    passes: [
      { name: "fuse-conv-batch-norm", applied: 53, skipped: [], durationMs: 12 },
      { name: "fuse-clip", applied: 0, skipped: [{ node: "c", reason: "bounds are computed" }], durationMs: 1 },
      { name: "fuse-pad", applied: 1, skipped: [], durationMs: 1, rejected: "output y differs by 0.5" },
    ],
    quantization: {
      mode: "static",
      method: "mse",
      nodes: 52,
      forms: Array.from({ length: 52 }, (_, i) => ({ node: `/conv${i + 2}`, form: "static" as const })),
      float: [
        { node: "/conv1", op: "Conv", reason: "costs too much accuracy" },
        { node: "/a", op: "Conv", reason: "depthwise" },
        { node: "/b", op: "Conv", reason: "depthwise" },
      ],
      why: "fastest within the limits",
      notes: ["one bias was widened"],
      calibration: { samples: 64, tensors: 80, data: "cc" },
    },
    accuracy: {
      metric: "top1",
      kind: "labels",
      higherIsBetter: true,
      samples: 5000,
      baseline: 0.76,
      candidate: 0.7588,
      delta: -0.0012,
      deltaInterval: [-0.0029, 0.0005],
      confidence: 0.95,
    },
    latency: {
      provider: "cpu",
      threads: 1,
      batch: 1,
      runs: 640,
      baseline: { p50Ms: 24.31, p90Ms: 25.1, p95Ms: 25.9, p99Ms: 27.4, p999Ms: null },
      candidate: { p50Ms: 11.36, p90Ms: 11.8, p95Ms: 11.92, p99Ms: 13, p999Ms: null },
      speedup: 2.14,
      speedupInterval: [2.11, 2.17],
    },
    verdict: {
      status: "pass",
      outcome: "met",
      summary: "every limit is met",
      reasons: [
        {
          limit: "max-drop",
          wanted: 0.5,
          got: 0.12,
          status: "met",
          text: "top1 got worse by 0.12 points, 0.5 allowed",
          unit: "points",
          interval: [-0.05, 0.29],
        },
        {
          ...{ limit: "min-speedup", wanted: 1.2, got: 2.14, status: "met" },
          text: "2.14x as fast, at least 1.2x wanted",
          unit: "times",
          interval: [2.11, 2.17],
        },
      ],
    },
    candidates: [
      {
        name: "int8 static mse",
        chosen: true,
        bytes: 1_010_000,
        quantizedNodes: 52,
        floatNodes: 3,
        speedup: 2.14,
        sqnrDb: 31.2,
        accuracy: 0.7588,
        reason: "chosen",
      },
      {
        name: "float32 fused",
        chosen: false,
        bytes: 3_990_000,
        quantizedNodes: 0,
        floatNodes: 55,
        speedup: 1.1,
        sqnrDb: null,
        accuracy: null,
        reason: "slower",
      },
    ],
    precision: null,
    difference: [{ output: "logits", maxAbs: 0.31, relativeL2: 0.0275, sqnrDb: 31.2, cosine: 0.99962 }],
    warnings: ["the samples repeat: 4 of 64 are equal"],
    stages: [{ stage: "load", wallMs: 100 }],
    resources: { wallMs: 42_000, peakRssBytes: 412_000_000 },
    environment: {
      cpu: "Some CPU",
      flags: ["avx2", "avx512_vnni"],
      cores: 8,
      platform: "linux-x64",
      node: "20.20.2",
      onnxruntime: "1.30.0",
    },
    ...parts,
  };
}

/** One that was refused: nothing was written. */
export const refusedResult = (): RunResult =>
  sampleResult({
    output: null,
    verdict: {
      status: "fail",
      outcome: "no-gain",
      summary: "no gain: 0.97x as fast",
      reasons: [{ limit: "gain", wanted: 1.02, got: 0.97, status: "missed", text: "0.97x as fast" }],
    },
  });
