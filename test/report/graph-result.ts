import type { GraphFacts } from "../../src/pipeline/inspect/graph-facts.js";
import type { RunResult } from "../../src/pipeline/result.js";
import { sampleResult } from "./sample-result.js";

/** A chain of nodes, the parts of which are numbered as given. */
export function chainOf(nodes: readonly string[], ops: readonly string[], parts: readonly number[]): GraphFacts {
  return {
    name: "net",
    nodes,
    ops,
    values: nodes.map((node) => `${node}:0`),
    reads: nodes.map((_, i) => (i === 0 ? [] : [i - 1])),
    precisions: nodes.map(() => "f32"),
    weightBytes: nodes.map((_, i) => (i % 2 === 0 ? 1000 * (i + 1) : 0)),
    weightTypes: nodes.map((_, i) => (i % 2 === 0 ? "f32" : "")),
    parts,
  };
}

/** Three nodes became one, and what every panel of the page needs is there. `name`: of nodes, tensors and all else that a file names. */
export function graphResult(name = "net"): RunResult {
  const { quantization, accuracy } = sampleResult();
  const [a, b, c, d] = ["a", "b", "c", "d"].map((end) => `${name}/${end}`) as [string, string, string, string];
  return sampleResult({
    model: { path: `${name}.onnx`, sha256: name, bytes: 100, nodes: 4 },
    accuracy: {
      ...accuracy!,
      answers: { both: 3794, onlyBefore: 6, onlyAfter: 0, neither: 1200 },
      worst: [{ sample: 17, baseline: 1, candidate: 0 }],
    },
    quantization: {
      ...quantization!,
      float: [{ node: d, op: name, reason: name }],
      regions: [{ region: c, nodes: [c], form: "static", sqnrDb: 31.25, beforeMs: 1.5, afterMs: 0.5, reason: "" }],
    },
    graphs: {
      before: chainOf([a, b, c, d], ["Conv", "BatchNormalization", "Relu", "Gemm"], [1, 1, 1, 2]),
      after: chainOf([c, d], ["Conv", "Gemm"], [1, 2]),
    },
    calibration: {
      of: 1,
      tensors: [
        {
          ...{ tensor: c, elements: 100, min: -1, max: 3, chosen: "mse" },
          histogram: { from: -1, width: 1, counts: [10, 60, 25, 5] },
          ranges: [
            { method: "minmax", low: -1, high: 3, clippedShare: 0 },
            { method: "mse", low: -1, high: 2, clippedShare: 0.05 },
          ],
        },
      ],
    },
    layers: {
      ...{ thresholdDb: 20, samples: 8, compared: 2, uncompared: 0, first: null, worst: [] },
      along: [
        { value: `${c}:0`, node: c, op: "Conv", sqnrDb: 31.5 },
        { value: `${d}:0`, node: d, op: "Gemm", sqnrDb: 28.75 },
      ],
    },
    warnings: [name],
  });
}
