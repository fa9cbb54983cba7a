import { describe, expect, it } from "vitest";
import type { ExecutedNodes } from "../../src/pipeline/profile/executed-nodes.js";
import { beforeRows, layerRows } from "../../src/report/layer-rows.js";
import { measuredTimes } from "../../src/report/measured-times.js";
import { chainOf } from "./graph-result.js";
import { sampleResult } from "./sample-result.js";

const executed = (nodes: readonly string[], ms: readonly number[], provider = "cpu"): ExecutedNodes => ({
  ...{ nodes, ms, providers: nodes.map(() => provider), elsewhereMs: 0 },
});

/** Three nodes became two, a fourth is what it was, and one of each has no counterpart. */
const result = sampleResult({
  quantization: null,
  graphs: {
    before: chainOf(
      ["a", "b", "c", "d", "gone"],
      ["Conv", "BatchNormalization", "Relu", "Gemm", "Cast"],
      [1, 1, 1, 2, 0],
    ),
    after: chainOf(["p", "q", "d", "new"], ["Conv", "Relu", "Gemm", "Cast"], [1, 1, 2, 0]),
  },
  executed: {
    before: executed(["a", "b", "d", "gone"], [6, 3, 2, 1]),
    after: executed(["p", "q", "d", "new"], [3, 1, 1, 0.5]),
  },
});

describe("measuredTimes", () => {
  it("shares what a part took among its nodes, by what they take themselves", () => {
    expect(measuredTimes(result, "after")).toMatchObject({ own: [3, 1, 1, 0.5], other: [6.75, 2.25, 2, 0] });
    const { own, other } = measuredTimes(result, "before")!;
    expect(own).toEqual([6, 3, 0, 2, 1]);
    expect(other!.map((ms) => Number(ms.toFixed(6)))).toEqual([2.666667, 1.333333, 0, 1, 0]);
  });

  it("shares evenly where none of a part's nodes took time of its own", () => {
    const none = { ...result, executed: { ...result.executed!, after: executed(["d"], [1]) } };
    expect(measuredTimes(none, "after")!.other).toEqual([4.5, 4.5, 2, 0]);
  });

  it("knows no other side that was not profiled, and nothing without a profile of its own", () => {
    const alone = { ...result, executed: { ...result.executed!, before: null } };
    expect(measuredTimes(alone, "after")!.other).toBeNull();
    expect(measuredTimes(alone, "before")).toBeNull();
    const { executed: _, ...older } = result;
    expect(measuredTimes(older, "after")).toBeNull();
  });
});

describe("rows of layers that were profiled", () => {
  const saved = (rows: readonly { readonly savedMs: number | null }[]): number =>
    rows.reduce((sum, { savedMs }) => sum + savedMs!, 0);

  it("add up, and what has no counterpart counts on its own side", () => {
    // "gone" took 1 ms that only the graph before knows of.
    expect(saved(layerRows(result))).toBeCloseTo(12 - 1 - 5.5, 9);
    expect(saved(beforeRows(result))).toBeCloseTo(12 - 5.5 + 0.5, 9);
  });

  it("tell errors at the node that makes the value now, whatever it was called before", () => {
    const along = [{ value: "p:0", node: "c", op: "Relu", sqnrDb: 21 }];
    const layers = { thresholdDb: 20, samples: 1, compared: 1, uncompared: 0, first: null, worst: [], along };
    const rows = layerRows({ ...result, layers });
    expect(rows.find(({ node }) => node === "p")!.sqnrDb).toBe(21);
    expect(rows.map(({ node }) => node)).toEqual(["p", "q", "d", "new"]);
  });

  it("say where nodes ran", () => {
    const split = {
      ...result.executed!,
      after: { ...result.executed!.after!, providers: ["cuda", "cuda", "cpu", "cpu"] },
    };
    expect(layerRows({ ...result, executed: split }).map(({ provider }) => provider)).toEqual([
      ...["cuda", "cuda", "cpu", "cpu"],
    ]);
  });
});
