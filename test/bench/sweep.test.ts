import { describe, expect, it } from "vitest";
import { sweep } from "../../src/bench/index.js";
import { FakeTimers } from "./fake-timers.js";

const session = { provider: "cpu", threads: 1, optimization: "all" } as const;
const data = { path: "none" };
const settings = ["a", "b"].map((model) => ({ model, data, session }));
const timers = () => new FakeTimers({ a: { latency: () => 2, loadMs: 30 }, b: { latency: () => 8, loadMs: 50 } }, 1);

describe("a sweep", () => {
  it("times each setting in three processes, no two at a time, in shuffled turns", async () => {
    const fakes = timers();
    const told: [number, number][] = [];
    const options = {
      budgetMs: 3000,
      seed: 1,
      clock: fakes.clock,
      onProgress: (...done: [number, number]) => told.push(done),
    };
    const [a, b] = await sweep(fakes.runtime, settings, options);
    expect([...fakes.opened].sort()).toEqual(["a", "a", "a", "b", "b", "b"]);
    expect(fakes.open).toBe(0);
    expect(new Set(a!.samplesMs)).toEqual(new Set([2]));
    expect(new Set(b!.samplesMs)).toEqual(new Set([8]));
    expect(a!.samplesMs.length).toBeGreaterThan(3 * b!.samplesMs.length);
    expect(a).toMatchObject({ loadMs: 30, firstRunMs: 1, settled: true });
    expect(told.at(-1)).toEqual([6, 6]);
  });

  it("runs each a few times when there is no time", async () => {
    const fakes = timers();
    const [a, b] = await sweep(fakes.runtime, settings, { budgetMs: 1, seed: 1, clock: fakes.clock });
    expect([a!.samplesMs.length, b!.samplesMs.length]).toEqual([9, 9]);
  });

  it("leaves a setting at what it has where a single process took far more than its share", async () => {
    const slow = { b: { latency: () => 2000, loadMs: 50 }, a: { latency: () => 2, loadMs: 30 } };
    const fakes = new FakeTimers(slow, 1);
    const told: [number, number][] = [];
    const onProgress = (...done: [number, number]) => void told.push(done);
    const [a, b] = await sweep(fakes.runtime, settings, { budgetMs: 600, seed: 1, clock: fakes.clock, onProgress });
    expect([a!.processes, b!.processes]).toEqual([3, 1]);
    expect(b!.samplesMs).toHaveLength(3);
    expect(told.at(-1)![1]).toBe(6);
  });

  it("keeps to its time where a few runs are all that it has", async () => {
    const fakes = new FakeTimers({ a: { latency: () => 2000, loadMs: 300 } }, 1);
    const [a] = await sweep(fakes.runtime, settings.slice(0, 1), { budgetMs: 10_000, seed: 1, clock: fakes.clock });
    expect(a).toMatchObject({ processes: 1 });
    // One run to warm up.
    expect(fakes.nowMs).toBeLessThan(10_000);
  });

  it("leaves no process behind when it is stopped or one fails", async () => {
    const fakes = timers();
    const stop = new AbortController();
    const options = {
      budgetMs: 3000,
      seed: 1,
      clock: fakes.clock,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    };
    await expect(sweep(fakes.runtime, settings, options)).rejects.toThrow();
    expect([fakes.opened.length, fakes.open]).toEqual([1, 0]);
  });
});
