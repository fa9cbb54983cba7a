import { describe, expect, it } from "vitest";
import { measureLatency } from "../../../src/pipeline/measure/latency.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, type FakeRuntimeOptions, fakeContext } from "../../support/fake-runtime.js";
import { runtimeConfig } from "../../support/run-config.js";

const models = {
  "old.onnx": { latency: (chance: { next(): number }) => 4 + chance.next() },
  "new.onnx": { latency: (chance: { next(): number }) => 2 + chance.next() / 2 },
};
const request = {
  baseline: "old.onnx",
  candidates: ["new.onnx"],
  data: { path: "d.npz" },
  runtime: runtimeConfig({ threads: 2 }),
  minSpeedup: null,
  slo: [],
};
const fake = (options?: FakeRuntimeOptions) => fakeContext(new FakeRuntime(models, options));

describe("measureLatency", () => {
  it("puts times and speedup in the words of the result", async () => {
    const { candidates } = await measureLatency(fake(), request);
    const { facts } = candidates[0]!;
    expect(facts).toMatchObject({ provider: "cpu", threads: 2, batch: 1 });
    expect(facts.speedup).toBeGreaterThan(1.9);
    expect(facts.speedupInterval[0]).toBeLessThanOrEqual(facts.speedup);
    expect(facts.baseline.p50Ms).toBeGreaterThan(facts.candidate.p50Ms);
  });

  it("puts percentiles on the curve of the distribution", async () => {
    const { facts } = (await measureLatency(fake(), request)).candidates[0]!;
    const { at, baselineMs, candidateMs } = facts.distribution!;
    for (const [share, name] of [
      [0.5, "p50Ms"],
      [0.95, "p95Ms"],
    ] as const) {
      expect(baselineMs[at.indexOf(share)]).toBeCloseTo(facts.baseline[name]!, 6);
      expect(candidateMs[at.indexOf(share)]).toBeCloseTo(facts.candidate[name]!, 6);
    }
  });

  it("bounds each percentile as far as the runs reach", async () => {
    const { candidates, comparison } = await measureLatency(fake(), {
      ...request,
      slo: [{ percentile: "p95", ms: 3 }],
    });
    const { facts, bounds } = candidates[0]!;
    expect(comparison.runs).toBeGreaterThan(100);
    expect(bounds.p95.low!).toBeLessThanOrEqual(facts.candidate.p95Ms!);
    expect(bounds.p95.high!).toBeGreaterThanOrEqual(facts.candidate.p95Ms!);
    expect(bounds.p999.high).toBeNull();
  });

  it("stops as soon as the speedup is known, but not while the tail is wanted", async () => {
    const runsWith = async (slo: { percentile: "p95"; ms: number }[]) =>
      (await measureLatency(fake(), { ...request, slo })).comparison.runs;
    expect(await runsWith([])).toBeLessThan(await runsWith([{ percentile: "p95", ms: 3 }]));
  });

  it("times models as they are delivered", async () => {
    const runtime = new FakeRuntime(models);
    await measureLatency(fakeContext(runtime), request);
    expect(runtime.timed[0]!.session.optimization).toBe("all");
  });

  it("names the provider that did the work", async () => {
    const fallbacks = [{ wanted: "cuda", used: "cpu", reason: "no library" }];
    const { candidates } = await measureLatency(fake({ fallbacks }), {
      ...request,
      runtime: runtimeConfig({ provider: "cuda" }),
    });
    expect(candidates[0]!.facts.provider).toBe("cpu");
  });

  it("is interrupted whatever the signal was aborted with", async () => {
    const stop = new AbortController();
    stop.abort("enough");
    const context = fakeContext(new FakeRuntime(models), { signal: stop.signal });
    expect((await faultOf(() => measureLatency(context, request))).code).toBe("INTERRUPTED");
  });
});
