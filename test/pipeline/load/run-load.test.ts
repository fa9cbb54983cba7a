import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type LoadConfig, runLoad } from "../../../src/pipeline/load/run-load.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function load(serviceMs: number, parts: Partial<LoadConfig> = {}) {
  const path = modelFile(temporaryFolder(), "(x: f32[1,4]) -> (y) { y = Relu(x) }");
  const config: LoadConfig = {
    ...{ models: [path], data: null, runtime: runtimeConfig({ benchMs: 20_000 }), processes: 1, slo: [] },
    ...{ offered: { rate: 50, kind: "poisson" }, findMaxRate: false, inconclusive: "fail" },
    ...parts,
  };
  return runLoad(config, fakeContext(new FakeRuntime({ [path]: { latency: () => serviceMs } })));
}
const p95 = (ms: number) => [{ percentile: "p95", ms } as const];

describe("runLoad", () => {
  it("passes where limits hold under the load", async () => {
    const { verdict, load: facts } = await load(4, { slo: p95(40) });
    expect(verdict).toMatchObject({ status: "pass", outcome: "met" });
    expect(verdict.reasons.map(({ limit, status }) => [limit, status])).toEqual([
      ["rate", "met"],
      ["slo p95", "met"],
    ]);
    expect(facts).toMatchObject({ rate: 50, arrivals: "poisson", processes: 1 });
    expect(facts!.models[0]!.utilization).toBeCloseTo(0.2, 1);
    expect(facts!.models[0]!.service.p50Ms).toBeCloseTo(4, 6);
  });

  it("fails where requests queue for too long, however quick each answer is", async () => {
    const { verdict } = await load(18, { slo: p95(30) });
    expect(verdict).toMatchObject({ status: "fail", outcome: "latency" });
    expect(verdict.summary).toContain("slo p95 missed");
  });

  it("fails without any limit when more arrives than is served", async () => {
    const { verdict } = await load(30);
    expect(verdict.outcome).toBe("latency");
    expect(verdict.summary).toContain("the queue grows");
  });

  it("takes as many requests as LoadGen does before a percentile is met", async () => {
    const runtime = runtimeConfig({ benchMs: 8000 });
    const slo = [{ percentile: "p99", ms: 400 } as const];
    const few = (await load(4, { slo, runtime, offered: { rate: 50, kind: "constant" } })).verdict;
    expect(few).toMatchObject({ status: "inconclusive" });
    // 360 count, which is above the 299 of a bound at 95 %.
    expect(few.summary).toContain("0 of 360 requests took longer, and it takes about 459 like these to tell");
    const enough = await load(4, { slo, runtime, offered: { rate: 70, kind: "constant" } });
    expect(enough.verdict.status).toBe("pass");
  });

  it("waits for no queue that only grows, and says how much of it was sent", async () => {
    const { load: facts, verdict, warnings, resources } = await load(200, { offered: { rate: 50, kind: "constant" } });
    expect(verdict.summary).toContain("the queue grows");
    // 20 s of requests would take 200 s.
    expect(facts!.models[0]!.requests).toBe(270);
    expect(warnings.join()).toContain("the first 300 of 999 requests were sent, those of 6 s");
    expect(resources.wallMs).toBeLessThan(80_000);
  });

  it("waits for few requests to a model that takes longer than all its patience", async () => {
    const offered = { rate: 50, kind: "constant" } as const;
    const { load: facts, verdict, resources } = await load(30_000, { offered });
    expect(verdict).toMatchObject({ outcome: "latency" });
    expect(facts!.models[0]!.utilization).toBeGreaterThan(100);
    expect(resources.wallMs).toBeLessThan(15 * 30_000);
  });

  it("counts from the first moment to the next where many arrive at once", async () => {
    const path = join(temporaryFolder({ "t.txt": `${"0\n".repeat(40)}0.1\n` }), "t.txt");
    const { load: facts, verdict } = await load(30_000, { offered: { trace: path, untilMs: null } });
    expect(verdict).toMatchObject({ outcome: "latency" });
    expect(Number.isFinite(facts!.models[0]!.utilization)).toBe(true);
  });

  it("serves more with more processes", async () => {
    const { verdict, load: facts } = await load(30, { processes: 2, offered: { rate: 50, kind: "constant" } });
    expect(verdict.outcome).toBe("met");
    expect(facts!.models[0]!.utilization).toBeCloseTo(0.75, 2);
  });

  it("cannot tell a percentile that its requests do not reach", async () => {
    const slo = [{ percentile: "p999", ms: 400 } as const];
    const { verdict } = await load(4, { slo });
    expect(verdict).toMatchObject({ outcome: "inconclusive" });
    // One count of what it takes, and one of what there was.
    expect(verdict.summary).toMatch(
      /at most 400 ms wanted; 0 of \d+ requests took longer, and it takes about 460\d like these to tell/,
    );
    expect(verdict.summary).not.toContain("runs");
    expect((await load(4, { slo, inconclusive: "warn" })).verdict).toMatchObject({
      status: "inconclusive",
      outcome: "met",
    });
  });

  it("finds the highest rate that passes, evenly spaced up to what can be served", async () => {
    const { load: facts } = await load(10, {
      slo: p95(11),
      findMaxRate: true,
      offered: { rate: 40, kind: "constant" },
    });
    const { perSecond, failedPerSecond, tried } = facts!.models[0]!.maxRate!;
    // Nobody waits below 100 a second; at 100 the work is all the time that there is.
    expect(perSecond!).toBeGreaterThan(90);
    expect(perSecond!).toBeLessThan(100);
    expect(failedPerSecond!).toBeCloseTo(100, 6);
    expect(tried.length).toBeLessThanOrEqual(9);
  });

  it("tries a rate for longer before it counts as too high", async () => {
    // A rate of 50 is far from the limit, but 50 requests or so do not show it for every seed.
    for (const seed of [1, 2, 3, 4, 5]) {
      const runtime = runtimeConfig({ benchMs: 20_000, seed });
      const { load: facts } = await load(10, { slo: p95(45), runtime, findMaxRate: true });
      const { perSecond } = facts!.models[0]!.maxRate!;
      expect(perSecond!).toBeGreaterThan(52);
      expect(perSecond!).toBeLessThan(80);
    }
  });

  it("begins its search with what the declared rate showed", async () => {
    const { load: facts } = await load(10, {
      slo: p95(11),
      findMaxRate: true,
      offered: { rate: 80, kind: "constant" },
    });
    const { tried, isCutShort } = facts!.models[0]!.maxRate!;
    expect(tried[0]).toMatchObject({ perSecond: 80, status: "met" });
    expect(Math.min(...tried.map(({ perSecond }) => perSecond))).toBe(80);
    expect(isCutShort).toBe(false);
  });

  it("ends its search with the time for it, however slow the model has become, and says so", async () => {
    let runs = 0;
    // 200 a second back to back, and 20 once requests come.
    const path = modelFile(temporaryFolder(), "(x: f32[1,4]) -> (y) { y = Relu(x) }");
    const runtime = new FakeRuntime({ [path]: { latency: () => (runs++ < 60 ? 5 : 50) } });
    const context = fakeContext(runtime);
    const config: LoadConfig = {
      ...{ models: [path], data: null, runtime: runtimeConfig({ benchMs: 5000 }), processes: 1, slo: p95(60) },
      ...{ offered: { rate: 10, kind: "constant" }, findMaxRate: true, inconclusive: "fail" },
    };
    const { load: facts, warnings, resources } = await runLoad(config, context);
    expect(facts!.models[0]!.maxRate!.isCutShort).toBe(true);
    expect(warnings.join()).toContain("ended with its time, which is 3 times --budget");
    // The load itself, warming up, and the search.
    expect(resources.wallMs).toBeLessThan(5000 + 2500 + 3 * 5000 + 500);
    const told = context.events.flatMap((event) => (event.type === "stage" && event.detail ? [event.detail] : []));
    expect(told.some((detail) => /^\d+(\.\d+)? requests a second$/.test(detail))).toBe(true);
  });

  it("calls a rate that it has no time to decide neither met nor too high", async () => {
    const slo = [{ percentile: "p999", ms: 400 } as const];
    const { load: facts, warnings } = await load(4, { slo, findMaxRate: true });
    // 6,600 requests are the least, and 20 s of 50 a second do not have them.
    expect(facts!.models[0]!.maxRate).toMatchObject({ failedPerSecond: null, isCutShort: true });
    expect(warnings.join()).toContain("say more");
  });

  it("says so when no rate passes", async () => {
    const { load: facts } = await load(10, { slo: p95(5), findMaxRate: true });
    expect(facts!.models[0]!.maxRate).toMatchObject({ perSecond: null });
  });

  it("replays a trace", async () => {
    const moments = Array.from({ length: 60 }, (_, i) => (i / 20).toFixed(3)).join("\n");
    const trace = join(temporaryFolder({ "t.txt": moments }), "t.txt");
    const { load: facts } = await load(4, { offered: { trace, untilMs: null } });
    expect(facts).toMatchObject({ arrivals: "trace" });
    expect(facts!.rate).toBeCloseTo(20, 6);
    expect(facts!.models[0]).toMatchObject({ requests: 60, waiting: { p50Ms: 0 } });
  });

  it.each([
    ["too few requests", { offered: { rate: 0.5, kind: "poisson" } } as const, "LOAD_TOO_FEW"],
    ["more than memory holds", { offered: { rate: 1e9, kind: "poisson" } } as const, "LOAD_TOO_MANY"],
    ["a search without a limit", { findMaxRate: true }, "FLAG_INVALID"],
  ])("refuses %s", async (_, parts, code) => {
    expect((await faultOf(() => load(4, parts))).code).toBe(code);
  });

  it("serves a real model as requests arrive, and no sooner, whoever sets the clock of the system meanwhile", async () => {
    const runtime = ortRuntime({ workers: 1 });
    const inAnHour = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(inAnHour);
    try {
      const path = modelFile(temporaryFolder(), "(x: f32[1,4]) -> (y) { y = Relu(x) }");
      const { load: facts } = await runLoad(
        {
          ...{ models: [path], data: null, runtime: runtimeConfig({ benchMs: 500 }), processes: 1, slo: [] },
          ...{ offered: { rate: 100, kind: "constant" }, findMaxRate: false, inconclusive: "fail" },
        },
        realContext(runtime),
      );
      const [found] = facts!.models;
      expect(found!.requests).toBe(45);
      expect(found!.latency.p50Ms).toBeGreaterThan(0);
      expect(found!.latency.p50Ms).toBeGreaterThanOrEqual(found!.service.p50Ms);
    } finally {
      clock.mockRestore();
      await runtime.close();
    }
  });
});
