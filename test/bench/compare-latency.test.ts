import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import type { Random } from "../../src/base/random.js";
import { compareLatency, type LatencyOptions } from "../../src/bench/index.js";
import { type FakeModel, FakeTimers } from "./fake-timers.js";

const session = { provider: "cpu", threads: 1, optimization: "all" } as const;

const jitter = (chance: Random, spread = 0.03) => Math.exp(spread * chance.normal());
const steady = (ms: number): FakeModel => ({ latency: (chance) => ms * jitter(chance) });

function compare(fake: FakeTimers, options: Partial<LatencyOptions> = {}) {
  return compareLatency(fake.runtime, {
    baseline: "a",
    candidates: ["b"],
    data: { path: "data.npz" },
    session,
    seed: 1,
    clock: fake.clock,
    ...options,
  });
}

describe("compareLatency", () => {
  it("finds a known speedup and stops as soon as it is beyond doubt", async () => {
    const fake = new FakeTimers({ a: steady(15), b: steady(10) }, 1);
    const result = await compare(fake, { minSpeedup: 1.2 });
    const b = result.candidates[0]!;
    expect(b.speedupInterval[0]).toBeLessThan(1.5);
    expect(b.speedupInterval[1]).toBeGreaterThan(1.5);
    expect(b.decision).toBe("met");
    expect(result.baseline.p50Ms / 15).toBeCloseTo(1, 1);
    expect(fake.nowMs).toBeLessThan(5000);
  });

  it("lets threads of models that take turns sleep after a run, and one that is alone run as it would anywhere", async () => {
    const models = { a: steady(15), b: steady(10) };
    const together = new FakeTimers(models, 1);
    await compare(together);
    expect(new Set(together.sessions.map(({ waiting }) => waiting))).toEqual(new Set(["asleep-after-runs"]));
    const alone = new FakeTimers(models, 1);
    await compare(alone, { candidates: [], budgetMs: 500 });
    expect(new Set(alone.sessions)).toEqual(new Set([session]));
  });

  it("misses a limit that the candidate is surely under", async () => {
    const result = await compare(new FakeTimers({ a: steady(10), b: steady(10) }, 2), { minSpeedup: 1.1 });
    expect(result.candidates[0]!.decision).toBe("missed");
  });

  it("spends the budget, and not much more, on what cannot be decided", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(10) }, 3);
    const result = await compare(fake, { budgetMs: 4000 });
    expect(result.candidates[0]!.decision).toBe("inconclusive");
    expect(fake.nowMs).toBeGreaterThan(3500);
    expect(fake.nowMs).toBeLessThan(4500);
  });

  it("asks more processes of a tiny model whose processes differ", async () => {
    const tiny = (ms: number, spread: number): FakeModel => {
      const levels = new Map<number, number>();
      return {
        latency: (chance, _run, _nowMs, process) => {
          if (!levels.has(process)) levels.set(process, ms * jitter(chance, spread));
          return levels.get(process)! * jitter(chance);
        },
        loadMs: 200,
      };
    };
    const race = async (spread: number) =>
      compare(new FakeTimers({ a: tiny(0.1, spread), b: tiny(0.1, spread) }, 5), { budgetMs: 10_000 });
    const [alike, differing] = [await race(0.005), await race(0.07)];
    expect(alike.processes).toBeLessThanOrEqual(4 + 4 * 3);
    expect(differing.processes).toBeGreaterThanOrEqual(18);
    expect(differing.runs).toBe(alike.runs);
  });

  describe("with times of an earlier race", () => {
    const earlierOf = async (b: number) =>
      (await compare(new FakeTimers({ a: steady(10), b: steady(b) }, 6), { budgetMs: 3000, minSpeedup: 1.25 })).series;
    const later = async (earlier?: Awaited<ReturnType<typeof earlierOf>>) =>
      compare(new FakeTimers({ a: steady(10), b: steady(8) }, 7), {
        ...{ budgetMs: 2000, minSpeedup: 1.25 },
        ...(earlier && { earlier }),
      });
    const width = ({ candidates: [b] }: Awaited<ReturnType<typeof later>>): number =>
      Math.log(b!.speedupInterval[1] / b!.speedupInterval[0]);

    it("counts them as its own", async () => {
      const [alone, joined] = [await later(), await later(await earlierOf(8))];
      expect(joined.processes).toBeGreaterThan(alone.processes);
      expect(joined.baseline.samplesMs.length).toBe(joined.runs);
      expect(width(joined)).toBeLessThan(width(alone));
    });

    it("leaves them out where it finds another ratio itself", async () => {
      const [alone, joined] = [await later(), await later(await earlierOf(6))];
      expect(joined.candidates[0]!.speedup).toBeCloseTo(1.25, 1);
      expect(joined.processes).toBe(alone.processes);
    });
  });

  it("judges several candidates in the same rounds", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(5), c: steady(20) }, 4);
    const result = await compare(fake, { candidates: ["b", "c"] });
    expect(result.candidates.map(({ model, decision }) => [model, decision])).toEqual([
      ["b", "met"],
      ["c", "missed"],
    ]);
    expect(new Set([result.baseline, ...result.candidates].map(({ samplesMs }) => samplesMs.length))).toEqual(
      new Set([result.runs]),
    );
  });

  it("times a single model for the whole budget", async () => {
    const fake = new FakeTimers({ a: steady(2) }, 5);
    const result = await compare(fake, { candidates: [], budgetMs: 2000 });
    expect(result.candidates).toEqual([]);
    expect(result.runs).toBeGreaterThan(500);
    expect(fake.nowMs).toBeGreaterThan(1600);
  });

  it("takes turns in both orders, in at least three fresh processes", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(5) }, 6);
    const result = await compare(fake);
    expect(result.processes).toBeGreaterThanOrEqual(3);
    expect(fake.opened.filter((model) => model === "a")).toHaveLength(result.processes);
    const text = fake.turns.join("");
    expect(text).toContain("aa");
    expect(text).toContain("bb");
    expect(text).not.toMatch(/aaa|bbb/);
  });

  it("ends every process, after success and after failure, and reports the failure itself", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(5) }, 7);
    await compare(fake);
    expect(fake.open).toBe(0);

    const crash = new InferOptError("RUNTIME_CRASHED", "runtime", "the process of b ended");
    const crashing = (): FakeModel => ({
      latency: (_, run) => {
        if (run > 30) throw crash;
        return 5;
      },
    });
    const broken = new FakeTimers({ a: steady(10), b: crashing() }, 7);
    await expect(compare(broken)).rejects.toBe(crash);
    expect(broken.open).toBe(0);
  });

  it("decides with the least number of runs where a verdict is all that is wanted", async () => {
    const quick = (a: number, b: number) =>
      compare(new FakeTimers({ a: steady(a), b: steady(b) }, 14), { isQuick: true, budgetMs: 3000 });
    const result = await quick(15, 5);
    expect(result.candidates[0]!.decision).toBe("met");
    expect(result.runs).toBeLessThan(30);
    expect(result.processes).toBe(1);
    const slower = await quick(5, 15);
    expect([slower.candidates[0]!.decision, slower.processes]).toEqual(["missed", 1]);
    // What one process shows of runs that differ may be the moment's.
    const uneasy = (ms: number): FakeModel => ({ latency: (chance) => ms * jitter(chance, 0.2) });
    const busy = await compare(new FakeTimers({ a: uneasy(15), b: uneasy(5) }, 14), { isQuick: true, budgetMs: 3000 });
    expect([busy.candidates[0]!.decision, busy.processes]).toEqual(["met", 2]);
    // What is closer to the limit is looked at in a second process, and then in a third, whatever the ones before say.
    const near = await quick(9, 5);
    expect([near.candidates[0]!.decision, near.processes]).toEqual(["met", 2]);
    const nearer = await compare(new FakeTimers({ a: steady(13), b: steady(10) }, 17), {
      isQuick: true,
      budgetMs: 3000,
    });
    expect([nearer.candidates[0]!.decision, nearer.processes]).toEqual(["met", 3]);
    const close = await compare(new FakeTimers({ a: steady(10), b: steady(10) }, 15), {
      isQuick: true,
      budgetMs: 3000,
    });
    expect(close.candidates[0]!.decision).toBe("inconclusive");
    expect(close.runs).toBeGreaterThan(60);
  });

  it("asks further processes where a small model is faster in one and slower in the next", async () => {
    /** Up to a third either way, as memory lies in each process. */
    const uneven = (ms: number): FakeModel => ({
      latency: (chance, _run, _nowMs, process) => ms * (1 + 0.3 * Math.sin(37 * process)) * jitter(chance, 0.1),
      loadMs: 200,
    });
    const fake = new FakeTimers({ a: uneven(0.15), b: uneven(0.12) }, 21);
    const { candidates, processes } = await compare(fake, { isQuick: true, minSpeedup: 1.02 });
    expect(candidates[0]!.decision).toBe("met");
    expect(processes).toBeGreaterThan(3);
    expect(fake.nowMs).toBeLessThan(10_500);
  });

  it("ends the processes that did start together with one that did not", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(5) }, 16);
    await expect(compare(fake, { isQuick: true, candidates: ["b", "missing"] })).rejects.toThrow();
    expect([fake.opened.length, fake.open]).toEqual([2, 0]);
  });

  it("stops between slices when it is told to", async () => {
    const fake = new FakeTimers({ a: steady(10), b: steady(10) }, 8);
    const stop = new AbortController();
    const onProgress = (done: number) => done > 20 && stop.abort(new Error("enough"));
    await expect(compare(fake, { signal: stop.signal, onProgress })).rejects.toThrow("enough");
    expect(fake.open).toBe(0);
  });

  it("leaves warm-up out", async () => {
    const warming: FakeModel = { latency: (chance, run) => (run < 12 ? 60 - 4 * run : 10) * jitter(chance, 0.01) };
    const result = await compare(new FakeTimers({ a: warming, b: steady(5) }, 9));
    expect(result.settled).toBe(true);
    expect(Math.max(...result.baseline.samplesMs)).toBeLessThan(15);
  });

  it("says when the latency never settled", async () => {
    const falling: FakeModel = { latency: (_, run) => 1 + 200 * 0.97 ** run };
    expect((await compare(new FakeTimers({ a: falling, b: steady(5) }, 10))).settled).toBe(false);
  });

  it("gives percentiles only where the runs support them", async () => {
    const slow = await compare(new FakeTimers({ a: steady(400), b: steady(400) }, 11), { budgetMs: 4000 });
    expect(slow.runs).toBe(12);
    expect(slow.baseline).toMatchObject({ p95Ms: null, p99Ms: null, p999Ms: null });
    const quick = await compare(new FakeTimers({ a: steady(0.5), b: steady(0.5) }, 12));
    expect(quick.runs).toBeGreaterThanOrEqual(2995);
    expect(quick.baseline.p999Ms).toBeGreaterThan(quick.baseline.p99Ms!);
  });

  it("reports loading and memory of each model", async () => {
    const fake = new FakeTimers({ a: { ...steady(10), loadMs: 80 }, b: { ...steady(5), loadMs: 30 } }, 13);
    const result = await compare(fake);
    expect([result.baseline.loadMs, result.candidates[0]!.loadMs]).toEqual([80, 30]);
    expect(result.candidates[0]!.peakRssBytes).toBe(1e6 * fake.opened.length);
  });

  it("repeats itself for the same seed", async () => {
    const once = await compare(new FakeTimers({ a: steady(10), b: steady(9) }, 14));
    expect(await compare(new FakeTimers({ a: steady(10), b: steady(9) }, 14))).toEqual(once);
  });

  it("tells when a copy of the baseline already looks different", async () => {
    const even = await compare(new FakeTimers({ a: steady(10), b: steady(5) }, 15), { noiseCheck: true });
    expect(even.noise!.noisy).toBeNull();
    expect(even.noise!.ratio).toBeCloseTo(1, 1);
    // Every second process of the baseline is a fifth slower.
    const uneven: FakeModel = { latency: (chance, _, __, process) => (process % 3 === 0 ? 12 : 10) * jitter(chance) };
    const result = await compare(new FakeTimers({ a: uneven, b: steady(8) }, 15), { noiseCheck: true });
    expect(result.noise!.noisy).toMatch(/second copy of itself/);
  });
});

describe("compareLatency on equal models", () => {
  const noises: [string, () => FakeModel][] = [
    ["independent noise", () => steady(5)],
    ["drift to twice the latency", () => ({ latency: (chance, _, nowMs) => 5 * (1 + nowMs / 3000) * jitter(chance) })],
    [
      "bursts of load",
      () => ({ latency: (chance, _, nowMs) => (Math.sin(nowMs / 70) > 0.7 ? 9 : 5) * jitter(chance, 0.05) }),
    ],
    ["a clock with two speeds", () => ({ latency: (chance) => (chance.next() < 0.3 ? 7 : 5) * jitter(chance, 0.01) })],
    [
      "processes that differ by 0.7 %",
      () => {
        const factors: number[] = [];
        return {
          latency: (chance, _, __, process) => 5 * (factors[process] ??= jitter(chance, 0.007)) * jitter(chance),
        };
      },
    ],
  ];

  it.each(noises)("seldom sees a difference under %s", async (_name, model) => {
    const trials = 60;
    let wrong = 0;
    for (let seed = 1; seed <= trials; seed++) {
      const fake = new FakeTimers({ a: model(), b: model() }, seed);
      const { candidates } = await compare(fake, { seed, budgetMs: 3000 });
      if (candidates[0]!.decision !== "inconclusive") wrong++;
    }
    // Four looks at 99 %, each a chance to be wrong.
    expect(wrong / trials).toBeLessThanOrEqual(0.04);
  });

  it("sees 5 % through drift and bursts", async () => {
    const model = (ms: number): FakeModel => ({
      latency: (chance, _, nowMs) => ms * (1 + nowMs / 6000) * (Math.sin(nowMs / 70) > 0.8 ? 1.6 : 1) * jitter(chance),
    });
    let met = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const result = await compare(new FakeTimers({ a: model(5.25), b: model(5) }, seed), { seed });
      if (result.candidates[0]!.decision === "met") met++;
    }
    // Processes are taken to differ by 2 % until they show otherwise, which leaves some in doubt.
    expect(met).toBeGreaterThanOrEqual(16);
  });
});
