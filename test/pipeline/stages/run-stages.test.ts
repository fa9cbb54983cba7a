import { describe, expect, it } from "vitest";
import { firstToImprove, runStages, type StagesConfig } from "../../../src/pipeline/stages/run-stages.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import type { FakePipeline } from "../../support/fake-stages.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const steady: FakePipeline = {
  before: { preprocessing: () => 6 },
  inference: () => 3,
  after: { postprocessing: () => 1 },
};

function run(config: Partial<StagesConfig> = {}, stages: FakePipeline = steady) {
  const path = modelFile(temporaryFolder(), "(x: f32[1,4]) -> (y) { y = Relu(x) }");
  const whole: StagesConfig = {
    ...{ models: [path], pipeline: "/steps.mjs", data: null, runtime: runtimeConfig({ benchMs: 6000 }) },
    ...{ budget: [], percentile: "p95", slo: [], inconclusive: "fail", ...config },
  };
  return runStages(whole, fakeContext(new FakeRuntime({ [path]: { stages } })));
}

describe("bench --pipeline", () => {
  it("tells each stage, where to begin, and what overlapping gave", async () => {
    const { request, verdict, command } = await run();
    expect(command).toBe("bench");
    expect(request!.stages.map(({ name, isOwn, p50Ms }) => [name, isOwn, p50Ms])).toEqual([
      ["preprocessing", true, 6],
      ["transfer", false, 0],
      ["inference", false, 3],
      ["postprocessing", true, 1],
    ]);
    expect(request!.stages[0]).toMatchObject({
      p95Ms: 6,
      p999Ms: null,
      meanMs: 6,
      bounds: { p50: { low: 6, high: 6 } },
    });
    expect(request!.stages[0]!.share).toBeCloseTo(0.6, 6);
    expect(request).toMatchObject({ total: { p50Ms: 10 }, alone: { p50Ms: 3 }, data: "/steps.mjs", distinct: 3 });
    expect(request!.overlap!.speedup).toBeCloseTo(10 / 6, 6);
    expect(request!.first).toEqual({ stages: ["preprocessing"], ifHalved: expect.closeTo(1 / 0.7, 6) });
    expect(verdict).toMatchObject({ status: "pass", outcome: "met", reasons: [] });
    expect(verdict.summary).toBe("a request takes 10 ms, 60 % of its time preprocessing");
  });

  it("names the data where requests are made of it", async () => {
    expect((await run({}, { ...steady, hasRequests: false })).request!.data).toContain("random");
  });

  it("warns where nothing was overlapped, with the reason", async () => {
    const { request, warnings } = await run({}, { ...steady, impossible: "state holds a function" });
    expect([request!.overlap, request!.notOverlapped]).toEqual([null, "state holds a function"]);
    expect(warnings).toContain("overlapping was not measured: state holds a function");
  });

  it.each([
    [[{ stage: "preprocess", ms: 7 }], "pass", "met"],
    [[{ stage: "preprocess", ms: 5 }], "fail", "latency"],
    [
      [
        { stage: "total", ms: 11 },
        { stage: "network", ms: 2 },
      ],
      "fail",
      "latency",
    ],
  ] as const)("judges a budget: %o", async (budget, status, outcome) => {
    const { verdict } = await run({ budget });
    expect(verdict).toMatchObject({ status, outcome });
    expect(verdict.reasons).toHaveLength(budget.length);
  });

  it("is undecided where requests are too few, or lets that pass when told to", async () => {
    const config = { budget: [{ stage: "total", ms: 11 }], percentile: "p999" } as const;
    expect((await run(config)).verdict).toMatchObject({ status: "inconclusive", outcome: "inconclusive" });
    expect((await run({ ...config, inconclusive: "warn" })).verdict).toMatchObject({ outcome: "met" });
  });

  it("holds the whole request to --slo", async () => {
    const { verdict } = await run({ slo: [{ percentile: "p50", ms: 9 }] });
    expect(verdict).toMatchObject({ outcome: "latency", reasons: [{ limit: "slo p50", status: "missed", got: 10 }] });
  });

  it("refuses a budget of a stage that there is not, and two models", async () => {
    const fault = await faultOf(() => run({ budget: [{ stage: "resize", ms: 1 }] }));
    expect(fault).toMatchObject({ code: "FLAG_INVALID", kind: "usage" });
    expect((await faultOf(() => run({ models: ["a", "b"] }))).code).toBe("PIPELINE_MODELS");
  });
});

describe("where to begin", () => {
  const stage = (name: string, share: number, low: number, high: number) => ({
    ...{ name, share, shareInterval: [low, high] as const },
  });

  it("is the largest share", () => {
    const found = firstToImprove([stage("a", 0.2, 0.18, 0.22), stage("b", 0.8, 0.78, 0.82)]);
    expect(found).toEqual({ stages: ["b"], ifHalved: expect.closeTo(1 / 0.6, 6) });
  });

  it("is several where that cannot be told, the largest first", () => {
    const found = firstToImprove([stage("a", 0.45, 0.4, 0.5), stage("b", 0.5, 0.45, 0.55), stage("c", 0.05, 0, 0.1)]);
    expect(found.stages).toEqual(["b", "a"]);
  });
});
