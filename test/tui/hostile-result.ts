import type { RunResult } from "../../src/pipeline/result.js";
import { sampleResult } from "../report/sample-result.js";

/** Names that want to be seen in some other way than as names. */
export const hostileNames = [
  "\u001b[2J\u001b[H\u001b]0;title\u0007evil",
  "层/卷积/模块一二三四五六七八九十层/卷积",
  "</script>|%0A\r\n::error::x",
  "\u202egnp.exe\u200f",
  "😀".repeat(30),
  `/${"a-very-long-name/".repeat(20)}Conv`,
  "e\u0301\u0301\u0301 combined",
];

/** Every screen has something to show, under names like these. */
export function hostileResult(): RunResult {
  const [first, ...others] = hostileNames as [string, ...string[]];
  const floats = hostileNames.map((node) => ({ node, op: "Conv", reason: `why ${node}` }));
  const sample = sampleResult();
  return sampleResult({
    model: { path: `/models/${first}.onnx`, sha256: "aa", bytes: 4_000_000, nodes: 175 },
    commandLine: `infer-opt quantize '/models/${first}.onnx' -o out.onnx`,
    passes: hostileNames.map((name) => ({
      ...{ name, applied: 3, durationMs: 1 },
      skipped: [{ node: first, reason: `no ${first}` }],
    })),
    quantization: {
      ...sample.quantization!,
      float: floats,
      why: first,
      regions: others.map((region, i) => ({
        ...{ region, nodes: [region, first], form: "static" as const, sqnrDb: i === 0 ? null : 20 + i },
        ...{ beforeMs: 3 + i, afterMs: 1, reason: "" },
      })),
    },
    latency: {
      ...sample.latency!,
      distribution: {
        at: [0, 0.25, 0.5, 0.75, 0.95, 0.99, 1],
        baselineMs: [20, 23, 24.31, 25, 25.9, 27.4, 90],
        candidateMs: [10, 11, 11.36, 11.5, 11.92, 13, 40],
      },
    },
    candidates: hostileNames.map((name, i) => ({
      ...{ name, chosen: i === 1, bytes: 1000 * i, quantizedNodes: 1, floatNodes: i },
      ...{ speedup: 1 + i / 4, sqnrDb: 40 - i, accuracy: i % 2 ? 0.5 : null, reason: first },
    })),
    calibration: {
      of: 900,
      tensors: hostileNames.map((tensor, i) => ({
        ...{ tensor, elements: 1000, min: -1 - i, max: 4, chosen: "mse" as const },
        histogram: { from: -1 - i, width: (5 + i) / 8, counts: [1, 0, 500, 900, 300, 20, 0, 1] },
        ranges: [
          { method: "minmax" as const, low: -1 - i, high: 4, clippedShare: 0 },
          { method: "mse" as const, low: -1, high: 3, clippedShare: 0.001 },
        ],
      })),
    },
    warnings: [first],
  });
}
