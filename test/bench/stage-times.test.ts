import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { stageTimes } from "../../src/bench/index.js";
import type { Runtime } from "../../src/runtime/port.js";
import { type FakePipeline, fakeStageTimer } from "../support/fake-stages.js";

const session = { provider: "cpu", threads: 1, optimization: "all" } as const;
const spec = { model: "m.onnx", pipeline: "/p.mjs", data: { path: "none" }, session };

class Machine {
  nowMs = 0;
  open = 0;
  opened = 0;
  readonly timers: ReturnType<typeof fakeStageTimer>[] = [];
  constructor(private readonly pipeline: FakePipeline) {}
  readonly runtime = {
    stages: async () => {
      this.open++;
      this.opened++;
      this.nowMs += 300;
      const timer = fakeStageTimer(this.pipeline, (ms) => (this.nowMs += ms));
      this.timers.push(timer);
      return { ...timer, close: async () => void this.open-- };
    },
  } as unknown as Runtime;
  readonly time = (budgetMs = 6000, more: Partial<Parameters<typeof stageTimes>[2]> = {}) =>
    stageTimes(this.runtime, spec, { budgetMs, seed: 1, clock: () => this.nowMs, ...more });
}

const steady: FakePipeline = { before: { decode: () => 6 }, inference: () => 3, after: { answer: () => 1 } };

describe("whole requests", () => {
  it("are timed stage by stage, in three processes one after the other", async () => {
    const machine = new Machine(steady);
    const told: number[] = [];
    const times = await machine.time(6000, { onProgress: (done, total) => told.push(done / total) });
    expect([machine.opened, machine.open, times.processes]).toEqual([3, 0, 3]);
    expect(times.names).toEqual(["decode", "transfer", "inference", "answer"]);
    expect(times.stagesMs.map((stage) => [...new Set(stage)])).toEqual([[6], [0], [3], [1]]);
    expect(new Set(times.requestMs)).toEqual(new Set([10]));
    expect(times.shares.map(({ share }) => Math.round(100 * share))).toEqual([60, 0, 30, 10]);
    expect(times.requestMs.length).toBeGreaterThan(150);
    expect(machine.nowMs).toBeLessThan(7500);
    expect(told.at(-1)).toBe(1);
  });

  it("tell what overlapping gives as it was measured, and the model alone", async () => {
    const { overlap, aloneMs, notOverlapped } = await new Machine(steady).time();
    // decode takes 6, the rest 4: a request every 6 ms instead of every 10.
    expect(overlap!.speedup).toBeCloseTo(10 / 6, 6);
    expect(overlap!.serialPerSecond).toBeCloseTo(100, 6);
    expect(overlap!.overlappedPerSecond).toBeCloseTo(1000 / 6, 6);
    expect(overlap!.speedupInterval[0]).toBeLessThan(10 / 6);
    expect(overlap!.speedupInterval[1]).toBeGreaterThan(10 / 6);
    expect(notOverlapped).toBeNull();
    expect(new Set(aloneMs)).toEqual(new Set([3]));
  });

  it("take turns: each round has one block of each kind, begun with another", async () => {
    const machine = new Machine(steady);
    await machine.time();
    const { asked } = machine.timers[0]!;
    const kinds = ["alone", "overlapped", "serial"];
    // What is not a multiple of three comes first, to warm up.
    const last = Array.from({ length: 4 }, (_, i) => asked.slice(asked.length - 3 * (i + 1), asked.length - 3 * i));
    for (const round of last) expect([...round].sort()).toEqual(kinds);
    expect(new Set(last.map(([first]) => first)).size).toBeGreaterThan(1);
  });

  it("are still told where nothing can be overlapped, with the reason", async () => {
    const { overlap, notOverlapped, requestMs } = await new Machine({
      ...steady,
      impossible: "no thread for it",
    }).time();
    expect([overlap, notOverlapped]).toEqual([null, "no thread for it"]);
    expect(requestMs.length).toBeGreaterThan(0);
  });

  it("are measured at least in twelve blocks, however short the time is", async () => {
    const { requestMs } = await new Machine(steady).time(1);
    expect(requestMs.length).toBeGreaterThanOrEqual(36);
  });

  it("end before anything is timed when the names do not please", async () => {
    const machine = new Machine(steady);
    const onOpen = (names: readonly string[]): never => {
      throw new Error(names.join());
    };
    await expect(machine.time(6000, { onOpen })).rejects.toThrow("decode,transfer,inference,answer");
    expect([machine.open, machine.timers[0]!.asked.length]).toEqual([0, 0]);
  });

  it("leave no process behind when they are stopped", async () => {
    const machine = new Machine(steady);
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    await expect(machine.time(6000, options)).rejects.toThrow();
    expect(machine.open).toBe(0);
  });
});

it("the interval of a share covers the true share in most of many trials", async () => {
  let covered = 0;
  const trials = 60;
  for (let trial = 0; trial < trials; trial++) {
    const random = seededRandom(1000 + trial);
    const noisy = (mean: number) => () => mean * Math.exp(0.4 * random.normal() - 0.08);
    const machine = new Machine({ before: { a: noisy(2) }, inference: noisy(6), after: { b: noisy(2) } });
    const { shares } = await stageTimes(machine.runtime, spec, {
      budgetMs: 3000,
      seed: trial,
      clock: () => machine.nowMs,
    });
    const [low, high] = shares[2]!.interval;
    if (low <= 0.6 && high >= 0.6) covered++;
  }
  // 95 % of 60 are 57; below 51 would be a chance of one in some thousands.
  expect(covered).toBeGreaterThanOrEqual(51);
});
