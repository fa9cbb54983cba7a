import { describe, expect, it } from "vitest";
import { runSweep, type SweepConfig } from "../../../src/pipeline/sweep/run-sweep.js";
import type { Timer, TimerSpec } from "../../../src/runtime/port.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A millisecond a sample for one thread, half with two, and one for each run besides. */
class Sized extends FakeRuntime {
  readonly specs: TimerSpec[] = [];
  /** What starting a process takes, by batch size. */
  startMs: (batch: number) => number = () => 0;

  override async timer(spec: TimerSpec): Promise<Timer> {
    this.specs.push(spec);
    const batch = Number(spec.data.random!.signature![0]!.shape![0]);
    const ms = 1 + batch / spec.session.threads;
    this.nowMs += this.startMs(batch);
    const timer = await super.timer(spec);
    return {
      ...timer,
      measure: async (runs) => {
        this.nowMs += runs * ms;
        return new Float64Array(runs).fill(ms);
      },
    };
  }
}

function run(
  parts: Partial<SweepConfig> = {},
  text = "(x: f32[N,4]) -> (y) { y = Relu(x) }",
  names = ["model.onnx"],
  startMs: Sized["startMs"] = () => 0,
) {
  const folder = temporaryFolder();
  const models = names.map((name) => modelFile(folder, text, { name }));
  const fixed = /f32\[(\d+),4\]/.exec(text)?.[1];
  const signature = {
    inputs: [{ name: "x", dtype: "f32", shape: [fixed ? Number(fixed) : "N", 4] } as const],
    outputs: [{ name: "y", dtype: "f32", shape: [fixed ? Number(fixed) : "N", 4] } as const],
  };
  const runtime = new Sized(Object.fromEntries(models.map((path) => [path, { latency: () => 1, signature }])));
  runtime.startMs = startMs;
  const config: SweepConfig = {
    ...{ models, data: null, batches: [1, 4, 16], threads: [1, 2], runtime: runtimeConfig({ benchMs: 6000 }) },
    ...{ slo: [], costPerHour: null, inconclusive: "fail" },
    ...parts,
  };
  return runSweep(config, fakeContext(runtime));
}

describe("runSweep", () => {
  it("names in one warning all settings that there was no time to run in as many processes as others", async () => {
    const slow = (batch: number): number => (batch === 1 ? 0 : 10_000);
    const { warnings } = await run({ threads: [1] }, undefined, undefined, slow);
    expect(warnings).toEqual([
      "there was no time to run batch 4 with 1 thread, batch 16 with 1 thread in as many processes as others (3), " +
        "which differ by some per cent: say more with --budget",
    ]);
    expect((await run()).warnings).toEqual([]);
  });

  it("tells latency and throughput of each setting, and the fastest", async () => {
    const { sweep, verdict } = await run();
    expect(
      sweep!.settings.map(({ batch, threads, p50Ms, throughputPerSecond }) => [
        batch,
        threads,
        p50Ms,
        Math.round(throughputPerSecond),
      ]),
    ).toEqual([
      [1, 1, 2, 500],
      [1, 2, 1.5, 667],
      [4, 1, 5, 800],
      [4, 2, 3, 1333],
      [16, 1, 17, 941],
      [16, 2, 9, 1778],
    ]);
    expect(sweep).toMatchObject({ fastest: 5, best: 5, costPerHour: null });
    expect(verdict).toMatchObject({ status: "pass", summary: "the most: batch 16 with 2 threads at 1780 a second" });
  });

  it("picks the most within the limits, and its price", async () => {
    const { sweep, verdict } = await run({ slo: [{ percentile: "p50", ms: 4 }], costPerHour: 3.6 });
    expect(sweep!.best).toBe(3);
    // 0.001 a second, 1333 of them a second: 0.75 for a million.
    expect(sweep!.settings[3]!.costPerMillion).toBeCloseTo(0.75, 6);
    expect(verdict.summary).toBe("the most within the limits: batch 4 with 2 threads at 1330 a second");
    expect(sweep!.settings.map(({ limits }) => limits[0]!.status)).toEqual([
      "met",
      "met",
      "missed",
      "met",
      "missed",
      "missed",
    ]);
  });

  it("names the model where there are several", async () => {
    const names = ["one.onnx", "other.onnx"];
    const { verdict } = await run({}, undefined, names);
    expect(verdict.summary).toBe(
      "the most: one.onnx, batch 16 with 2 threads at 1780 a second; other.onnx, batch 16 with 2 threads at 1780 a second may be as many",
    );
    const { verdict: missed } = await run({ slo: [{ percentile: "p50", ms: 1 }] }, undefined, names);
    expect(missed.reasons.map(({ text }) => text.split(",")[0])).toEqual(
      names.flatMap((name) => Array.from({ length: 6 }, () => name)),
    );
  });

  it("fails where no setting meets the limits", async () => {
    const { sweep, verdict } = await run({ slo: [{ percentile: "p50", ms: 1 }] });
    expect(sweep!.best).toBeNull();
    expect(verdict).toMatchObject({ outcome: "latency", summary: "no setting meets every limit" });
    expect(verdict.reasons).toHaveLength(6);
  });

  it("cannot tell where runs are too few for the percentile", async () => {
    const slo = [{ percentile: "p999", ms: 100 } as const];
    const few = { slo, runtime: runtimeConfig({ benchMs: 10 }) };
    expect((await run(few)).verdict.outcome).toBe("inconclusive");
    expect((await run({ ...few, inconclusive: "warn" })).verdict).toMatchObject({
      status: "inconclusive",
      outcome: "met",
    });
  });

  it("refuses a batch that the model cannot take", async () => {
    const fault = await faultOf(() => run({}, "(x: f32[1,4]) -> (y) { y = Relu(x) }"));
    expect(fault).toMatchObject({ code: "BATCH_FIXED", kind: "input" });
    expect(fault.message).toContain("batches of 1, and not of 4");
  });

  it("takes a model of a fixed batch where nobody asked for another", async () => {
    const fixed = "(x: f32[4,4]) -> (y) { y = Relu(x) }";
    expect((await run({ batches: [1] }, fixed)).sweep!.settings.length).toBeGreaterThan(0);
    expect(await faultOf(() => run({ batches: [1, 4] }, fixed))).toMatchObject({ code: "BATCH_FIXED" });
  });
});
