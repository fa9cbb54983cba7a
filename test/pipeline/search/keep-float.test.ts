import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import { keepWorstFloat } from "../../../src/pipeline/search/keep-float.js";
import { costedRegions, rankRegions } from "../../../src/pipeline/search/rank-regions.js";
import { Stage, staticVariant, staticVariantOf } from "../../support/candidates.js";

const eight = ["a", "b", "c", "d", "e", "f", "g", "h"];
/** h is worst, a is best. */
const damage = Object.fromEntries(eight.map((node, i) => [node, 40 - 4 * i]));

function search(stage: Stage, needed: number, all = eight, alone = all, deadline = 1e9, leastSpeedup = 1.02) {
  const variant = staticVariantOf({ neighbours: all !== alone, depthwise: true });
  const candidate = stage.candidate("integers", variant, { accuracy: 0.5, ms: 3 }, all);
  const asked: number[] = [];
  const meetsLimit = async (next: Candidate): Promise<boolean> => {
    asked.push(next.keptFloat.size);
    return next.keptFloat.size >= needed;
  };
  const workshop = stage.workshopFor(all, alone);
  return keepWorstFloat({
    candidate,
    workshop,
    context: stage.context,
    deadline,
    leastSpeedup,
    instead: null,
    attemptMs: 0,
    measuringMs: () => 0,
    meetsLimit,
    dropOf: () => null,
  }).then((outcome) => ({
    ...outcome,
    asked,
  }));
}

describe("keepWorstFloat", () => {
  it.each([
    [1, [1]],
    [2, [1, 2]],
    [3, [1, 2, 4, 3]],
    [5, [1, 2, 4, 6, 5]],
    [6, [1, 2, 4, 6, 5]],
  ])("finds that %i nodes are needed by doubling and bisection", async (needed, asked) => {
    const outcome = await search(new Stage(undefined, damage), needed);
    expect(outcome.asked).toEqual(asked);
    expect([...outcome.found!.keptFloat.keys()]).toEqual([...eight].reverse().slice(0, needed));
  });

  it.each([
    ["all but one, where that is fast enough", 0.5, 1.02, 7],
    ["as many as leave a gain", 2, 1.02, 3],
    ["as many as leave the speed that is asked for", 0.5, 2.5, 2],
    ["all but one, where speed does not count", 2, 0, 7],
  ])("puts back to float %s", async (_, saves, leastSpeedup, most) => {
    const stage = new Stage(undefined, damage, Object.fromEntries(eight.map((node) => [node, saves])));
    // As integers 3 ms, and the original 10.
    stage.ownMs = 3;
    const { found, asked, reach } = await search(stage, 99, eight, eight, 1e9, leastSpeedup);
    expect(found).toBeNull();
    expect(asked.at(-1)).toBe(most);
    expect(reach).toMatchObject({ tried: most, most });
  });

  it.each([
    ["none where the cheapest costs too much", { h: 0.5 }, 3, 0],
    ["the cheapest where it costs little", { h: 0.1 }, 3, 1],
    ["as many as are faster in float", { g: -0.2, h: -0.1 }, 3.3, 2],
  ])("puts back to float %s, and measures regions where there is one to put back", async (_, saves, least, most) => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 2])), ...saves });
    stage.ownMs = 3;
    const { asked, reach } = await search(stage, 99, eight, eight, 1e9, least);
    expect(reach).toEqual({ regions: 8, mayBeDynamic: false, tried: most, most, missingMs: 0 });
    expect(stage.made).toHaveLength(most === 0 ? 0 : eight.length + asked.length);
  });

  it.each([
    [-0.1, /^saves no time as integers, and quantized alone it leaves [\d.]+ dB/],
    [2, /^costs too much accuracy: quantized alone it leaves [\d.]+ dB/],
  ])("says why a region that saves %f ms went back", async (saves, reason) => {
    const stage = new Stage(undefined, damage, Object.fromEntries(eight.map((node) => [node, saves])));
    stage.ownMs = 3;
    const { found } = await search(stage, 1, eight, eight, 1e9, 0);
    expect([...found!.keptFloat.values()]).toEqual([expect.stringMatching(reason)]);
  });

  it("gives up beyond three quarters of the nodes where times are not known", async () => {
    const { found, asked } = await search(new Stage(undefined, damage), 7);
    expect(found).toBeNull();
    expect(asked).toEqual([1, 2, 4, 6]);
  });

  it("ranks only nodes that can be integers alone, so that something is left of them", async () => {
    const products = ["a", "b", "c", "d"];
    const stage = new Stage(undefined, damage);
    const { found, asked } = await search(stage, 99, eight, products);
    expect(found).toBeNull();
    expect(asked).toEqual([1, 2, 3]);
    const singles = stage.made.filter((made) => made.keptFloat.size === 7);
    expect(singles.map(({ built }) => [...built.forms.keys()])).toEqual(products.map((node) => [node]));
  });

  it("gives up first what costs most error for each millisecond that it saves", async () => {
    // g costs less than h, and saves far less.
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), g: 0.1 });
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["g"]);
  });

  it("gives up what saves nothing before all else", async () => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), a: -1 });
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["a"]);
  });

  it("gives up last what takes no time, and much room", async () => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), h: 0 });
    stage.room = { h: 50 };
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["g"]);
    // Without time to measure any, others go first too.
    const unmeasured = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), a: 0 });
    unmeasured.room = { a: 50 };
    const candidate = unmeasured.candidate("integers", staticVariant, { accuracy: 0.5, ms: 3 }, eight);
    const workshop = unmeasured.workshopFor(eight);
    const costed = costedRegions(candidate, workshop);
    const { regions } = await rankRegions(candidate, costed, workshop, unmeasured.context, -1);
    expect(regions.map(({ region }) => region)).toEqual([...eight.slice(1), "a"]);
  });

  it.each([
    ["is refused by the runtime", Number.NEGATIVE_INFINITY],
    ["leaves more noise than signal", -30],
  ])("gives up what %s before what is merely noisy and saves little", async (_, worst) => {
    const stage = new Stage(
      undefined,
      { ...damage, c: worst },
      { ...Object.fromEntries(eight.map((node) => [node, 0.01])), c: 0.9 },
    );
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["c"]);
  });

  it("wins back what went along for nothing, the most time first", async () => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 0.5])), h: 0.6 });
    const candidate = stage.candidate(
      "integers",
      staticVariantOf({ neighbours: true, depthwise: true }),
      { accuracy: 0.5, ms: 3 },
      eight,
    );
    const meetsLimit = async (next: Candidate): Promise<boolean> => next.keptFloat.has("f");
    const outcome = await keepWorstFloat({
      candidate,
      workshop: stage.workshopFor(eight),
      context: stage.context,
      deadline: 1e9,
      leastSpeedup: 1.02,
      instead: null,
      attemptMs: 0,
      measuringMs: () => 0,
      meetsLimit,
      dropOf: () => null,
    });
    expect([...outcome.found!.keptFloat.keys()]).toEqual(["f"]);
  });

  it("makes regions dynamic integers where there are such, and leaves the others float", async () => {
    const stage = new Stage(undefined, damage);
    const forms = new Map([
      ["h", "dynamic"],
      ["f", "dynamicRows"],
    ] as const);
    const candidate = stage.candidate("integers", staticVariant, { accuracy: 0.5, ms: 3 }, eight);
    const asked: string[] = [];
    const { found, reach } = await keepWorstFloat({
      ...{ candidate, workshop: stage.workshopFor(eight), context: stage.context, deadline: 1e9 },
      ...{ leastSpeedup: 1.02, attemptMs: 0, measuringMs: () => 0, dropOf: () => null },
      instead: { forms, smoothing: undefined, timeShare: 0.5 },
      meetsLimit: async ({ variant, keptFloat, note }) => {
        const others = variant.kind === "integers" ? [...variant.recipe.forms] : [];
        asked.push(`${others.join(" ")} / ${[...keptFloat.keys()].join(" ")} / ${note}`);
        return others.length + keptFloat.size >= 3;
      },
    });
    expect(asked).toEqual([
      "h,dynamic /  / of 8 regions 1 with dynamic integers, 0 kept in float",
      "h,dynamic / g / of 8 regions 1 with dynamic integers, 1 kept in float",
      "h,dynamic f,dynamicRows / g e / of 8 regions 2 with dynamic integers, 2 kept in float",
      "h,dynamic f,dynamicRows / g / of 8 regions 2 with dynamic integers, 1 kept in float",
    ]);
    expect([...found!.keptFloat.keys()]).toEqual(["g"]);
    expect(reach).toMatchObject({ regions: 8, mayBeDynamic: true, tried: 2 });
  });

  it("gives up first what dynamic integers are nearly as fast for", async () => {
    // All are as noisy and save as much beside float; of h, dynamic integers save nearly all.
    const stage = new Stage(
      undefined,
      Object.fromEntries(eight.map((node) => [node, 30])),
      Object.fromEntries(eight.map((node) => [node, 0.5])),
    );
    const candidate = stage.candidate("integers", staticVariant, { accuracy: 0.5, ms: 3 }, eight);
    const workshop = stage.workshopFor(eight);
    const costed = costedRegions(candidate, workshop, {
      ...{ forms: new Map([["h", "dynamic"]]), smoothing: undefined, timeShare: 0.6 },
    });
    const ranked = await rankRegions(candidate, costed, workshop, stage.context, 1e9);
    expect(ranked.regions[0]).toMatchObject({ region: "h", savedMs: 0.5 - 0.4 });
    expect(ranked.regions[1]).toMatchObject({ region: "a", savedMs: 0.5 });
  });

  it("keeps the files of what it found and of nothing else", async () => {
    const stage = new Stage(undefined, damage);
    const { found, tried } = await search(stage, 3);
    const kept = tried.filter(({ name }) => !stage.discarded.includes(name));
    expect(kept).toEqual([found]);
    expect(stage.made.filter(({ name }) => !stage.discarded.includes(name))).toEqual([found]);
  });

  it("tries what it has when there is no time to rank", async () => {
    const stage = new Stage(undefined, damage);
    const { found, tried } = await search(stage, 1, eight, eight, -1);
    expect([found, tried]).toEqual([null, []]);
  });

  it("has nothing to try with a single node", async () => {
    const stage = new Stage(undefined, damage);
    expect(await search(stage, 1, ["a"])).toMatchObject({ found: null, tried: [] });
    expect(stage.made).toEqual([]);
  });
});

describe("keepWorstFloat on a heavy model", () => {
  const fifty = Array.from({ length: 50 }, (_, i) => `r${i}`);
  /** r0 is worst. */
  const damages = Object.fromEntries(fifty.map((node, i) => [node, 20 + i / 2]));
  const saved = Object.fromEntries(fifty.map((node) => [node, 0.1]));
  /** In limits: 22 regions in float meet it. */
  const bent = (count: number): number => 3 * (1 - count / 50) ** 2;

  /** A second for each attempt, 1 ms where it `isRecalled`, and `errorMs` for each batch of regions alone. */
  async function run(ms: number, { dropAt = bent, errorMs = 300, isRecalled = false } = {}) {
    const stage = new Stage(undefined, damages, saved);
    const candidate = stage.candidate(
      "integers",
      staticVariantOf({ neighbours: true, depthwise: true }),
      {
        ...{ accuracy: 0.5, ms: 8 },
      },
      fifty,
    );
    const workshop = stage.workshopFor(fifty);
    const batches: number[] = [];
    const { measureError } = workshop;
    workshop.measureError = async (candidates) => {
      batches.push(candidates.length);
      stage.runtime.nowMs += errorMs;
      await measureError(candidates);
    };
    const asked: number[] = [];
    const outcome = await keepWorstFloat({
      ...{
        candidate,
        workshop,
        context: stage.context,
        deadline: ms,
        leastSpeedup: 1.02,
        instead: null,
        attemptMs: 1000,
      },
      measuringMs: () => 1000,
      meetsLimit: async ({ keptFloat }) => {
        asked.push(keptFloat.size);
        stage.runtime.nowMs += isRecalled ? 1 : 1000;
        return dropAt(keptFloat.size) <= 1;
      },
      dropOf: ({ keptFloat }) => dropAt(keptFloat.size),
    });
    return { ...outcome, asked, batches, candidate, spentMs: stage.runtime.nowMs };
  }

  it("doubles and bisects where there is time for it", async () => {
    const { asked, found } = await run(60_000);
    expect(asked.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 24, 20, 22, 21]);
    expect(found!.keptFloat.size).toBe(22);
  });

  it.each([4000, 6000, 8000, 10_000, 12_000])(
    "finds what meets the limit in %i ms, and goes back from there",
    async (ms) => {
      const { asked, found, reach, spentMs } = await run(ms);
      expect(spentMs).toBeLessThanOrEqual(ms);
      expect(found!.keptFloat.size).toBe(Math.min(...asked.filter((count) => bent(count) <= 1)));
      expect(reach.missingMs).toBe(0);
      // More time than for one attempt ends near the fewest.
      if (ms > 6000) expect(found!.keptFloat.size).toBeLessThanOrEqual(26);
    },
  );

  it("does the same in the same time", async () => {
    expect((await run(7000)).asked).toEqual((await run(7000)).asked);
  });

  it("reckons with what attempts took in the run that they are recalled from", async () => {
    const { asked } = await run(4500, { isRecalled: true });
    expect(asked.slice(0, 2)).toEqual((await run(4500)).asked.slice(0, 2));
    expect(asked[0]).toBeGreaterThan(1);
  });

  it("goes to the end in the last attempt where drops tell nothing of the number", async () => {
    const flat = await run(2000, { dropAt: (count) => (count > 36 ? 0 : 5) });
    expect(flat.asked).toEqual([37]);
    expect(flat.found).not.toBeNull();
  });

  it("says what time was missing, and nothing of it where the end of the regions was reached", async () => {
    const short = await run(1500, { dropAt: (count) => Math.max(1.02, 1.5 - count / 100) });
    expect(short.found).toBeNull();
    expect(short.reach).toMatchObject({ regions: 50, tried: short.asked.at(-1), most: 37 });
    expect(short.reach.tried).toBeLessThan(37);
    expect(short.reach.missingMs).toBeGreaterThan(10_000);
    const whole = await run(60_000, { dropAt: () => 2 });
    expect(whole.reach).toEqual({ regions: 50, mayBeDynamic: false, tried: 37, most: 37, missingMs: 0 });
    const none = await run(-1);
    expect(none.reach).toMatchObject({ tried: 0, most: 37 });
    expect(none.reach.missingMs).toBeGreaterThan(0);
  });

  it("leaves time for attempts, and has regions that were not measured follow in order", async () => {
    const { batches, candidate, tried, asked } = await run(10_000, { errorMs: 2000 });
    expect(batches).toEqual([6, 6]);
    const known = fifty.filter((region) => Number.isFinite(candidate.errors!.get(region)));
    expect(known).toEqual(fifty.slice(0, 12));
    const kept = [...tried[0]!.keptFloat];
    expect(kept.map(([region]) => region)).toEqual(fifty.slice(0, asked[0]));
    expect(kept.map(([, reason]) => reason)).toContain("kept float to meet the accuracy limit");
  });
});
