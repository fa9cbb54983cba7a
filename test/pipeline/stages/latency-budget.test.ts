import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { latencyPercentiles, percentileBounds } from "../../../src/bench/index.js";
import { budgetOver, judgeBudget } from "../../../src/pipeline/stages/latency-budget.js";
import { faultOf } from "../../support/dataset.js";

const names = ["receipt", "preprocessing", "transfer", "inference", "postprocessing"];
const limits = (text: string) =>
  text.split(",").map((part) => ({ stage: part.split("=")[0]!, ms: Number(part.split("=")[1]) }));

describe("a budget", () => {
  it("takes the names of the report, those of the module, and other words for them", () => {
    expect([...budgetOver(limits("preprocessing=10,postprocess=2,network=30,total=50"), names)]).toEqual([
      ["preprocessing", 10],
      ["postprocessing", 2],
      ["inference", 30],
      ["total", 50],
    ]);
    expect([...budgetOver(limits("receive=1,request=9"), names).keys()]).toEqual(["receipt", "total"]);
    // A stage of the user's that is called so is meant first.
    expect([...budgetOver(limits("network=30"), [...names, "network"]).keys()]).toEqual(["network"]);
  });

  it.each([
    ["prepocess=10", 'prepocess" is no stage', "preprocessing"],
    ["serialise=1", 'serialise" is no stage', "receipt, preprocessing, transfer, inference, postprocessing, total"],
    ["preprocess=1,preprocessing=2", "two limits", "one"],
  ])("is refused: %s", async (text, message, hint) => {
    const fault = await faultOf(() => budgetOver(limits(text), names));
    expect(fault).toMatchObject({ code: "FLAG_INVALID", kind: "usage" });
    expect(fault.message).toContain(message);
    expect(fault.hint).toContain(hint);
  });
});

const timesOf = (samplesMs: Float64Array) => ({
  ...latencyPercentiles(samplesMs),
  meanMs: 0,
  bounds: percentileBounds(samplesMs),
});

describe("a budget is judged by intervals", () => {
  // 1 to 200 ms, one each, in no order: p95 between about 184 and 196.
  const random = seededRandom(3);
  const order = Array.from({ length: 200 }, (_, i) => [random.next(), i + 1] as const).sort(([a], [b]) => a - b);
  const times = timesOf(Float64Array.from(order, ([, ms]) => ms));
  const stage = { name: "inference", isOwn: false, share: 1, shareInterval: [1, 1] as const, ...times };
  const judge = (name: string, ms: number, percentile: "p50" | "p95" | "p99" | "p999" = "p95") =>
    judgeBudget(new Map([[name, ms]]), percentile, { stages: [stage], total: times, requests: 200 })[0]!;

  it.each([
    [198, "met"],
    [190, "inconclusive"],
    [180, "missed"],
  ])("of %i ms: %s", (ms, status) => expect(judge("inference", ms).status).toBe(status));

  it("of the percentile that was chosen, and of the whole request", () => {
    expect(judge("total", 120, "p50")).toMatchObject({ limit: "budget total", status: "met", wanted: 120 });
    expect(judge("total", 120, "p50").text).toContain("p50 is");
    expect(judge("inference", 500, "p99")).toMatchObject({ status: "inconclusive", got: null });
    expect(judge("inference", 500, "p99").text).toContain("299");
  });
});
