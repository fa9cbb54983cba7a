import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CompareJob } from "../../../src/runtime/port.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { differenceOf } from "../../support/fake-runtime.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const dynamic = integersVariant("dynamic");
const fused = { kind: "fused" } as const;
const nodes = ["a", "b", "c", "d", "e", "f", "g", "h"];

describe("chooseCandidate", () => {
  it("takes the fastest candidate that is accurate", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("slow", dynamic, { accuracy: 1, ms: 6 }),
        stage.candidate("fast", staticVariant, { accuracy: 1, ms: 3 }),
        stage.candidate("fused", fused, { accuracy: 1, ms: 9 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.candidate.name).toBe("fast");
    expect(judged.ruling.verdict.outcome).toBe("met");
    expect(judged.latency?.facts.speedup).toBeCloseTo(10 / 3, 1);
  });

  it("tells of a speed whether it is estimated or timed", async () => {
    const stage = new Stage();
    await stage.choose([stage.candidate("fast", staticVariant, { accuracy: 1, ms: 3 })], stage.workshopFor([]));
    const told = stage.context.events.flatMap((event) => (event.type === "candidate" ? [event.isTimed] : []));
    expect(told).toEqual([false, true]);
  });

  it("takes the more accurate of two that are as good as equally fast", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("rough", staticVariant, { accuracy: 1, ms: 3, sqnrDb: 20 }),
        stage.candidate("fine", staticVariant, { accuracy: 1, ms: 3.1, sqnrDb: 40 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.candidate.name).toBe("fine");
  });

  it("takes the faster of two that are as good as equally fast and accurate", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("slow", staticVariant, { accuracy: 1, ms: 3.1, sqnrDb: 42 }),
        stage.candidate("fast", staticVariant, { accuracy: 1, ms: 3, sqnrDb: 41.8 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.candidate.name).toBe("fast");
  });

  it("gives a little speed for much accuracy, unless a limit says how much is wanted", async () => {
    const pick = async (fineMs: number, limits: Parameters<Stage["choose"]>[2]): Promise<string> => {
      const stage = new Stage();
      const rough = stage.candidate("rough", staticVariant, { accuracy: 1, ms: 3, sqnrDb: 19 });
      const fine = stage.candidate("fine", dynamic, { accuracy: 1, ms: fineMs, sqnrDb: 29 });
      return (await stage.choose([rough, fine], stage.workshopFor([]), limits)).judged.candidate.name;
    };
    expect(await pick(3.4, {})).toBe("fine");
    expect(await pick(3.4, { maxDrop: "none" })).toBe("fine");
    expect(await pick(3.4, { maxDrop: { percent: 1 } })).toBe("rough");
    expect(await pick(4, {})).toBe("rough");
  });

  describe("where one that is far more accurate is about as fast as float by its estimate", () => {
    const pick = async (fine: { ms: number; estimate: number; sqnrDb?: number }, roughMs = 8.4): Promise<string> => {
      const stage = new Stage();
      const rough = stage.candidate("rough", staticVariant, { accuracy: 1, ms: roughMs, sqnrDb: 10 });
      const other = stage.candidate("fine", dynamic, { accuracy: 1, ms: fine.ms, sqnrDb: fine.sqnrDb ?? 39 });
      const float = stage.candidate("fused", fused, { accuracy: 1, ms: 9 });
      const candidates = [rough, { ...other, speedup: fine.estimate }, float];
      return (await stage.choose(candidates, stage.workshopFor([]), {})).judged.candidate.name;
    };

    it("races it before the others, and takes it where it pays", async () => {
      expect(await pick({ ms: 8.2, estimate: 1.1 })).toBe("fine");
    });

    it("takes the other where it does not pay, or was expected to be slower than that", async () => {
      expect(await pick({ ms: 8.9, estimate: 1.1 })).toBe("rough");
      expect(await pick({ ms: 8.2, estimate: 1.04 })).toBe("rough");
    });

    it("races it for the sake of others alone, that err more", async () => {
      expect(await pick({ ms: 8.2, estimate: 1.1 }, 8.9)).toBe("fused");
      expect(await pick({ ms: 8.2, estimate: 1.1, sqnrDb: 9 })).toBe("rough");
    });
  });

  it("takes a slower one when the fastest is not accurate", async () => {
    const stage = new Stage();
    const { judged, made } = await stage.choose(
      [
        stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes),
        stage.candidate("slow", dynamic, { accuracy: 1, ms: 6 }, nodes),
      ],
      stage.workshopFor(nodes),
    );
    expect(judged.candidate.name).toBe("slow");
    // Some of the fast one's regions in float might have been faster still.
    expect(made.map(({ name }) => name)).toEqual(["kept a"]);
  });

  it("does not search where what is not accurate is hardly faster", async () => {
    const stage = new Stage();
    const { judged, made } = await stage.choose(
      [
        stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes),
        stage.candidate("slow", dynamic, { accuracy: 1, ms: 3.2 }, nodes),
      ],
      stage.workshopFor(nodes),
    );
    expect(judged.candidate.name).toBe("slow");
    expect(made).toEqual([]);
  });

  it.each([
    [2, "kept h g f"],
    [6.5, "slow"],
  ])(
    "takes what is faster of an accurate one and of one with regions in float that runs for %s ms",
    async (ms, taken) => {
      const damage = Object.fromEntries(nodes.map((node, i) => [node, 50 - i]));
      const stage = new Stage((kept) => ({ accuracy: kept.length >= 3 ? 1 : 0.8, ms }), damage);
      const fast = stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 1.5 }, nodes);
      const slow = stage.candidate("slow", dynamic, { accuracy: 1, ms: 6 }, nodes);
      const { judged } = await stage.choose([fast, slow], stage.workshopFor(nodes));
      expect(judged.candidate.name).toBe(taken);
      expect(judged.ruling.verdict.outcome).toBe("met");
    },
  );

  it.each([
    ["does not search a second one that is hardly faster than what the first search found", 0.1, [staticVariant]],
    ["searches a second one that is much faster than what the first search found", 0.9, [staticVariant, dynamic]],
  ])("%s", async (_, saved, searched) => {
    const damage = Object.fromEntries(nodes.map((node, i) => [node, 50 - i]));
    const saves = Object.fromEntries(nodes.map((node) => [node, saved]));
    // What is found meets the limits, but in the race a float candidate is ahead of it.
    const stage = new Stage((kept) => ({ accuracy: kept.length > 1 ? 1 : 0.8, ms: 6.9 }), damage, saves);
    stage.ownMs = 3;
    const first = stage.candidate("first", staticVariant, { accuracy: 0.8, ms: 3 }, nodes);
    const second = stage.candidate("second", dynamic, { accuracy: 0.8, ms: 3.05 }, nodes);
    const float = stage.candidate("fused", fused, { accuracy: 1, ms: 6 });
    const { judged, made } = await stage.choose([first, second, float], stage.workshopFor(nodes));
    expect(judged.candidate.name).toBe("fused");
    expect([...new Set(made.map(({ variant }) => variant))]).toEqual(searched);
  });

  it("holds a second search to what the first one found as measured where nothing estimates it", async () => {
    const stage = new Stage((kept) => ({ accuracy: kept.length > 1 ? 1 : 0.8, ms: 3.5 }));
    const first = stage.candidate("first", staticVariant, { accuracy: 0.8, ms: 3 }, nodes);
    const second = stage.candidate("second", dynamic, { accuracy: 0.8, ms: 3.2 }, nodes);
    const float = stage.candidate("fused", fused, { accuracy: 1, ms: 3.4 });
    const { made } = await stage.choose([first, second, float], stage.workshopFor(nodes));
    expect(new Set(made.map(({ variant }) => variant))).toEqual(new Set([staticVariant]));
  });

  it("times an accurate one that searches have only borrowed from", async () => {
    const stage = new Stage(() => ({ accuracy: 0.8, ms: 3 }));
    const rough = [3, 3.5, 4].map((ms) => stage.candidate(`static ${ms}`, staticVariant, { accuracy: 0.8, ms }, nodes));
    const last = stage.candidate("dynamic", dynamic, { accuracy: 1, ms: 6 }, nodes);
    const { judged } = await stage.choose([...rough, last], stage.workshopFor(nodes));
    expect([judged.candidate.name, judged.ruling.verdict.outcome]).toEqual(["dynamic", "met"]);
    expect(judged.latency?.facts.speedup).toBeCloseTo(10 / 6, 1);
  });

  it("times nothing that is slower than one that may be the answer, nor another placement of that", async () => {
    const stage = new Stage(() => ({ accuracy: 0.8, ms: 3 }));
    const accurate = stage.candidate("accurate", staticVariant, { accuracy: 1, ms: 6 }, nodes);
    accurate.faster = { keptFloat: new Map([["z", "placed"]]), gain: 1.2 };
    const candidates = [
      stage.candidate("rough", staticVariant, { accuracy: 0.8, ms: 3 }, nodes),
      accurate,
      stage.candidate("slow", dynamic, { accuracy: 1, ms: 8 }, nodes),
    ];
    const { judged } = await stage.choose(candidates, stage.workshopFor(nodes));
    expect(judged.candidate.name).toBe("accurate");
    expect(stage.made.some(({ keptFloat }) => keptFloat.has("z"))).toBe(false);
    expect(candidates.map(({ estimate }) => estimate !== undefined)).toEqual([false, true, false]);
  });

  it("puts the worst regions back to float when nothing is accurate as it is", async () => {
    const isFixed = (kept: readonly string[]): boolean => ["b", "e"].every((node) => kept.includes(node));
    const stage = new Stage((kept) => ({ accuracy: isFixed(kept) ? 1 : 0.9, ms: 3 + kept.length / 10 }), {
      e: 5,
      b: 8,
    });
    const { judged, made } = await stage.choose(
      [stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes)],
      stage.workshopFor(nodes),
    );
    expect([...judged.candidate.keptFloat.keys()].sort()).toEqual(["b", "e"]);
    expect(judged.candidate.keptFloat.get("e")).toContain("5.0 dB");
    expect(judged.ruling.verdict.outcome).toBe("met");
    expect(made.map(({ note }) => note)).toEqual(["1 of 8 regions kept in float", "2 of 8 regions kept in float"]);
  });

  it("says that accuracy was missed when no search helps, with the candidate that comes closest", async () => {
    const stage = new Stage((kept) => ({ accuracy: 0.8 + kept.length / 100, ms: 4 }));
    const { judged } = await stage.choose(
      [stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes)],
      stage.workshopFor(nodes),
    );
    expect(judged.ruling.verdict.outcome).toBe("accuracy");
    expect(judged.candidate.accuracy?.candidate).toBe(0.86);
    expect(judged.latency).toBeNull();
  });

  it("says whether it was time that the search lacked, or regions", async () => {
    const search = async (searchMs: number) => {
      const stage = new Stage((kept) => ({ accuracy: 0.8 + kept.length / 100, ms: 4 }), {}, null, { scoreMs: 1000 });
      const fast = stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes);
      const { judged, made } = await stage.choose([fast], stage.workshopFor(nodes), {}, { searchMs });
      const [reason] = judged.ruling.verdict.reasons;
      return { made: made.length, outcome: judged.ruling.verdict.outcome, search: judged.search, reason };
    };
    const none = await search(0);
    expect(none).toMatchObject({ made: 0, outcome: "accuracy", search: { regions: 8, tried: 0, most: 6 } });
    expect(none.reason).toMatchObject({ status: "missed", longer: expect.any(Number) });
    expect(none.search!.longer).toBeGreaterThan(1);
    const whole = await search(60_000);
    expect(whole).toMatchObject({ outcome: "accuracy", search: { tried: 6, most: 6, longer: null } });
    expect(whole.made).toBeGreaterThan(1);
    expect(whole.reason).not.toHaveProperty("longer");
    expect(whole.reason!.text).toContain("with up to 6 of 8 regions in float it is missed too");
  });

  it("tells of the search that the closest candidate comes from, and not of another that had no time", async () => {
    const stage = new Stage((kept) => ({ accuracy: 0.8 + kept.length / 100, ms: 4 }), {}, null, { scoreMs: 1000 });
    const fast = stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes);
    const second = stage.candidate("second", dynamic, { accuracy: 0.79, ms: 3.5 }, nodes);
    const { judged, made } = await stage.choose([fast, second], stage.workshopFor(nodes), {}, { searchMs: 500 });
    expect(made).toEqual([judged.candidate]);
    expect(judged.candidate.note).toBe("6 of 8 regions kept in float");
    expect(judged.search).toMatchObject({ tried: 6, most: 6, longer: null });
  });

  it("takes no time for an attempt's that the original was measured in", async () => {
    const first = async (originalMs: number) => {
      const stage = new Stage((kept) => ({ accuracy: 0.8 + kept.length / 100, ms: 4 }), {}, null, { scoreMs: 1000 });
      const score = stage.runtime.score.bind(stage.runtime);
      stage.runtime.score = (job) => {
        if (!job.baselineScores) stage.runtime.nowMs += originalMs;
        return score(job);
      };
      const candidates = [staticVariant, dynamic].map((variant, i) =>
        stage.candidate(`candidate ${i}`, variant, { accuracy: 0.8, ms: 3 + i }, nodes),
      );
      const { made } = await stage.choose(candidates, stage.workshopFor(nodes), {}, { searchMs: 8000 });
      return made[0]!.note;
    };
    expect(await first(9000)).toBe(await first(0));
  });

  it("goes on where it was with as much in mind of what attempts take", async () => {
    const search = async (searchMs: number, output: string | null) => {
      const stage = new Stage((kept) => ({ accuracy: 0.8 + kept.length / 40, ms: 4 }), {}, null, { scoreMs: 1000 });
      const fast = stage.candidate("fast", staticVariant, { accuracy: 0.8, ms: 3 }, nodes);
      const { made } = await stage.choose([fast], stage.workshopFor(nodes), {}, { searchMs }, output);
      return { notes: made.map(({ note }) => note), scored: stage.runtime.scored.length };
    };
    const output = join(temporaryFolder(), "out.onnx");
    const whole = await search(2500, null);
    expect(await search(0, output)).toEqual({ notes: [], scored: 1 });
    expect(await search(2500, output)).toEqual({ notes: whole.notes, scored: whole.scored - 1 });
    expect(whole.notes[0]).not.toBe("1 of 8 regions kept in float");
  });

  it("does not search for accuracy where size is what was missed", async () => {
    const stage = new Stage();
    const { judged, made } = await stage.choose(
      [stage.candidate("fast", staticVariant, { accuracy: 1, ms: 3, bytes: 50 }, nodes)],
      stage.workshopFor(nodes),
      { maxSizeBytes: 40 },
    );
    expect(judged.ruling.verdict.outcome).toBe("latency");
    expect(judged.ruling.verdict.summary).toContain("max-size");
    expect(made).toEqual([]);
  });

  it("leaves out integers that do not pay, and takes the fused model", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("integers", staticVariant, { accuracy: 1, ms: 8 }),
        stage.candidate("fused", fused, { accuracy: 1, ms: 7 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.candidate.name).toBe("fused");
    expect(stage.runtime.scored.flatMap(({ models }) => models)).not.toContain("integers");
  });

  it("prefers the fused model to integers that are slower once they are accurate", async () => {
    const stage = new Stage((kept) => ({ accuracy: kept.length >= 2 ? 1 : 0.9, ms: 8 }));
    const { judged, made } = await stage.choose(
      [
        stage.candidate("integers", staticVariant, { accuracy: 0.8, ms: 4 }, nodes),
        stage.candidate("fused", fused, { accuracy: 1, ms: 6 }),
      ],
      stage.workshopFor(nodes),
    );
    expect(judged.candidate.name).toBe("fused");
    expect(made.length).toBeGreaterThan(0);
  });

  it("falls back on those integers when the float model does not meet the limits", async () => {
    const stage = new Stage((kept) => ({ accuracy: kept.length >= 2 ? 1 : 0.9, ms: 8, bytes: 50 }));
    const { judged } = await stage.choose(
      [
        stage.candidate("integers", staticVariant, { accuracy: 0.8, ms: 4 }, nodes),
        stage.candidate("fused", fused, { accuracy: 1, ms: 6, bytes: 100 }),
      ],
      stage.workshopFor(nodes),
      { maxSizeBytes: 60 },
    );
    expect(judged.candidate.keptFloat.size).toBe(2);
    expect(judged.ruling.verdict.outcome).toBe("met");
  });

  it("falls back on those integers when only a slower float model meets the limits", async () => {
    const stage = new Stage((kept) => ({ accuracy: kept.length >= 2 ? 1 : 0.9, ms: 6 }));
    const { judged } = await stage.choose(
      [
        stage.candidate("integers", staticVariant, { accuracy: 0.8, ms: 3 }, nodes),
        stage.candidate("half", { kind: "fp16" }, { accuracy: 0.5, ms: 4 }),
        stage.candidate("fused", fused, { accuracy: 1, ms: 8 }),
      ],
      stage.workshopFor(nodes),
    );
    expect(judged.candidate.keptFloat.size).toBe(2);
    expect(judged.ruling.verdict.outcome).toBe("met");
  });

  describe("where a placement that is more accurate gains too little", () => {
    /** The fastest is reckoned to be so many times as fast as that, and takes `ms`. */
    const search = async (
      { times = 1.1, ms = 9, accuracy = 1, carefulMs = 9.9 },
      limits: Parameters<Stage["choose"]>[2] = {},
    ): Promise<{ name: string; outcome: string; made: number; timed: readonly string[] }> => {
      const stage = new Stage(() => ({ accuracy, ms }));
      const careful = stage.candidate("careful", staticVariant, { accuracy: 1, ms: carefulMs }, nodes);
      careful.speedup = 1.1;
      careful.faster = { keptFloat: new Map([["a", "does not pay"]]), gain: times };
      const { judged, made } = await stage.choose([careful], stage.workshopFor(nodes), limits);
      const timed = stage.runtime.timed.map(({ model }) => model);
      return { name: judged.candidate.name, outcome: judged.ruling.verdict.outcome, made: made.length, timed };
    };

    it("takes the fastest one", async () => {
      expect(await search({})).toMatchObject({ name: "kept a", outcome: "met", made: 1 });
    });

    it("tries it for a wanted speedup too", async () => {
      expect(await search({ times: 1.5, ms: 7 }, { minSpeedup: 1.3 })).toMatchObject({
        name: "kept a",
        outcome: "met",
      });
    });

    it("does not take one that is not accurate, nor times it", async () => {
      const { name, outcome, made, timed } = await search({ accuracy: 0.8 });
      expect([name, outcome, made]).toEqual(["careful", "no-gain", 1]);
      expect(timed).not.toContain("kept a");
    });

    it("does not make one that would gain too little as well", async () => {
      expect(await search({ carefulMs: 10.5, times: 1.01 })).toMatchObject({
        name: "careful",
        outcome: "no-gain",
        made: 0,
      });
      expect(await search({ times: 1.1 }, { minSpeedup: 1.3 })).toMatchObject({ outcome: "latency", made: 0 });
    });

    it.each([
      ["takes the fastest one where it is ahead of the float model", 6.2, "kept a"],
      ["takes the float model where that is ahead of both", 7.6, "fused"],
    ])("%s", async (_, ms, name) => {
      const stage = new Stage(() => ({ accuracy: 1, ms }));
      const careful = stage.candidate("careful", staticVariant, { accuracy: 1, ms: 7.8 }, nodes);
      careful.speedup = 1.3;
      careful.faster = { keptFloat: new Map([["a", "does not pay"]]), gain: 1.25 };
      const float = stage.candidate("fused", fused, { accuracy: 1, ms: 7 });
      float.speedup = 1.42;
      const { judged } = await stage.choose([careful, float], stage.workshopFor(nodes));
      expect([judged.candidate.name, judged.ruling.verdict.outcome]).toEqual([name, "met"]);
    });
  });

  describe("where the table of kernel times left more in float", () => {
    /** By the table it is `promised` times as fast, and takes `ms`; all that can be integers takes `widerMs`. */
    const search = async (
      { promised = 3, ms = 5, widerMs = 4, widerDb = 28, accuracy = 1, gain = 0.9, noise = 0.01 },
      limits: Parameters<Stage["choose"]>[2] = {},
      searchMs = 1e9,
    ) => {
      const stage = new Stage(() => ({ accuracy, ms: widerMs, sqnrDb: widerDb, noise }));
      const careful = stage.candidate("careful", staticVariant, { accuracy: 1, ms, sqnrDb: 30 }, nodes);
      careful.speedup = promised;
      careful.wider = { keptFloat: new Map([["a", "slow kernel"]]), gain };
      const { judged, made } = await stage.choose([careful], stage.workshopFor(nodes), limits, { searchMs });
      const timed = stage.runtime.timed.map(({ model }) => model);
      return { name: judged.candidate.name, outcome: judged.ruling.verdict.outcome, made, timed, stage };
    };

    it.each([
      ["it gains far less than promised", { promised: 3, ms: 5, widerMs: 4 }],
      ["it gains little", { promised: 1.2, ms: 8.5, widerMs: 7 }],
      ["it gains nothing, whatever the accuracy", { promised: 1.2, ms: 10.2, widerMs: 8, widerDb: 5 }],
    ])("takes the widest placement where %s", async (_, given) => {
      const { name, outcome, stage } = await search(given);
      expect([name, outcome, stage.observed]).toEqual(["kept a", "met", ["a"]]);
    });

    it.each([
      ["loses more than it gains", { widerMs: 4, widerDb: 5 }],
      ["is hardly faster", { widerMs: 4.85 }],
      ["is slower", { widerMs: 6 }],
    ])("keeps what was raced where that %s", async (_, given) => {
      const { name, outcome, made } = await search(given);
      expect([name, outcome]).toEqual(["careful", "met"]);
      expect(made.map(({ note }) => note)).toEqual([expect.stringMatching(/in a race against 2\.0/)]);
    });

    it.each([
      ["a quarter less than promised", { promised: 2.6, ms: 5 }, ["a"]],
      ["a sixth less than promised", { promised: 2.4, ms: 5 }, []],
      ["1.3x as promised", { promised: 1.3, ms: 7.7 }, ["a"]],
      ["1.38x as promised, perhaps 1.4x", { promised: 1.38, ms: 7.25 }, []],
      ["1.45x as promised", { promised: 1.45, ms: 6.9 }, []],
      ["1.3x, and all as integers would take a half more", { promised: 1.3, ms: 7.7, gain: 0.65 }, ["a"]],
      ["1.3x, and all as integers would take twice as long", { promised: 1.3, ms: 7.7, gain: 0.5 }, []],
      ["nothing, so that it is no answer", { promised: 1.3, ms: 10.2, gain: 0.5 }, ["a"]],
    ])("looks for it or not where what was raced gains %s", async (_, given, observed) => {
      expect((await search({ ...given, widerMs: 9 })).stage.observed).toEqual(observed);
    });

    it("does not time noise", async () => {
      const { name, timed } = await search({ widerDb: -3 });
      expect([name, timed.includes("kept a")]).toEqual(["careful", false]);
    });

    it("takes it whatever the accuracy where what was raced misses a limit", async () => {
      const { name, made } = await search({ ms: 5, widerMs: 4, widerDb: 5 }, { minSpeedup: 2.2 });
      expect([name, made.map(({ estimate }) => estimate)]).toEqual(["kept a", [2.7]]);
    });

    it("takes it where it is ahead of the float model that is ahead of what was raced", async () => {
      const stage = new Stage(() => ({ accuracy: 1, ms: 6.25, sqnrDb: 12 }), {});
      const careful = stage.candidate("careful", staticVariant, { accuracy: 1, ms: 8, sqnrDb: 30 }, nodes);
      careful.speedup = 1.4;
      careful.wider = { keptFloat: new Map([["a", "slow kernel"]]), gain: 0.9 };
      const float = stage.candidate("fused", fused, { accuracy: 1, ms: 7.7 });
      const { judged } = await stage.choose([careful, float], stage.workshopFor(nodes));
      expect(judged.candidate.name).toBe("kept a");
    });

    it("does not go on timing what decides nothing where there is an answer already", async () => {
      const spent = async (ms: number) => {
        const { name, stage } = await search({ promised: 1.2, ms, widerMs: 4.6, noise: 2 });
        return [name, stage.runtime.nowMs] as const;
      };
      const [[, aloneMs], [name, besideMs]] = [await spent(10.2), await spent(8.5)];
      expect(name).toBe("careful");
      expect(besideMs).toBeLessThan(0.4 * aloneMs);
    });

    it("does not look for it when the time is over", async () => {
      const late = await search({ ms: 5, widerMs: 3 }, {}, 0);
      expect([late.name, late.made]).toEqual(["careful", []]);
    });

    it("does not look for it where the table was right", async () => {
      const { name, made, stage } = await search({ promised: 2.2, ms: 5, widerMs: 3 });
      expect([name, made, stage.observed]).toEqual(["careful", [], []]);
    });

    it("does not time one that misses a limit", async () => {
      const { name, outcome, timed } = await search({ accuracy: 0.8 }, { maxDrop: { percent: 1 } });
      expect([name, outcome]).toEqual(["careful", "met"]);
      expect(timed).not.toContain("kept a");
    });
  });

  it.each([
    ["integers", "gains nothing", 10],
    ["integers", "gains less", 9.3],
    ["fused", "gains as much", 8.2],
  ])("takes %s where a float model that was estimated to be ahead %s in the end", async (taken, _, ms) => {
    const stage = new Stage();
    const integers = stage.candidate("integers", staticVariant, { accuracy: 1, ms: 8 });
    integers.speedup = 1.25;
    const flattered = stage.candidate("fused", fused, { accuracy: 1, ms });
    flattered.speedup = 1.6;
    const { judged } = await stage.choose([integers, flattered], stage.workshopFor([]));
    expect([judged.candidate.name, judged.ruling.verdict.outcome]).toEqual([taken, "met"]);
  });

  it.each([
    ["fused", 7.25],
    ["integers", 6.9],
  ])(
    "takes %s, float at 7.46 ms and integers at %f: hardly faster, they are not worth what they lose",
    async (name, ms) => {
      const stage = new Stage();
      const integers = stage.candidate("integers", staticVariant, { accuracy: 0.998, ms });
      const float = stage.candidate("fused", fused, { accuracy: 1, ms: 7.46 });
      const { judged } = await stage.choose([integers, float], stage.workshopFor([]), { maxDrop: { percent: 0.5 } });
      expect([judged.candidate.name, judged.ruling.verdict.outcome]).toEqual([name, "met"]);
    },
  );

  it("races no integers again that missed a limit before the float model did", async () => {
    const stage = new Stage();
    // Estimated ahead of the float model, and found behind it.
    const integers = stage.candidate("integers", staticVariant, { accuracy: 1, ms: 9 });
    integers.speedup = 1.5;
    const float = stage.candidate("fused", fused, { accuracy: 1, ms: 9.5 });
    float.speedup = 1.4;
    const timed: string[] = [];
    const timer = stage.runtime.timer.bind(stage.runtime);
    stage.runtime.timer = (spec) => {
      timed.push(spec.model);
      return timer(spec);
    };
    const { judged } = await stage.choose([integers, float], stage.workshopFor([]), { minSpeedup: 1.3 });
    expect(judged.ruling.verdict.outcome).not.toBe("met");
    expect(timed).toContain("integers");
    expect(timed.lastIndexOf("integers")).toBeLessThan(timed.indexOf("fused"));
  });

  it("says no gain when everything is slower", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("slow", staticVariant, { accuracy: 1, ms: 12 }),
        stage.candidate("fused", fused, { accuracy: 1, ms: 10 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.ruling.verdict.outcome).toBe("no-gain");
    expect(judged.candidate.name).toBe("fused");
  });

  it("says by how much a wanted speedup was missed, with the fastest that was raced", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("slow", dynamic, { accuracy: 1, ms: 6 }),
        stage.candidate("fast", staticVariant, { accuracy: 1, ms: 4 }),
      ],
      stage.workshopFor([]),
      { minSpeedup: 3 },
    );
    expect(judged.ruling.verdict.outcome).toBe("latency");
    expect(judged.candidate.name).toBe("fast");
  });

  it("takes the smallest when size is the goal, however slow", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("fast", staticVariant, { accuracy: 1, ms: 3, bytes: 50 }),
        stage.candidate("small", integersVariant("weights4"), { accuracy: 1, ms: 12, bytes: 20 }),
      ],
      stage.workshopFor([]),
      {},
      { goal: "size" },
    );
    expect(judged.candidate.name).toBe("small");
    expect(judged.ruling.verdict.outcome).toBe("met");
  });

  it("runs the original once for accuracy, however many candidates there are", async () => {
    const stage = new Stage();
    await stage.choose(
      [
        stage.candidate("a", staticVariant, { accuracy: 0.5, ms: 3 }),
        stage.candidate("b", dynamic, { accuracy: 0.5, ms: 4 }),
      ],
      stage.workshopFor([]),
    );
    expect(stage.runtime.scored.map(({ baselineScores }) => baselineScores !== undefined)).toEqual([false, true]);
    const [first, second] = stage.runtime.scored;
    expect(first!.keepAnswers).toEqual(expect.any(String));
    expect(second).toMatchObject({ answers: first!.keepAnswers });
    expect(second).not.toHaveProperty("keepAnswers");
  });

  it("never takes outputs that are no answer, whatever the limits", async () => {
    const isZeros = ({ candidate }: CompareJob): boolean => candidate === "zeros";
    const zeros = differenceOf("y", { sqnrDb: 0, cosine: 0, maxAbs: 1, differing: 10 });
    const stage = new Stage(undefined, {}, null, { compare: (job) => [isZeros(job) ? zeros : differenceOf("y")] });
    const { judged } = await stage.choose(
      [
        stage.candidate("zeros", staticVariant, { accuracy: 1, ms: 2 }),
        stage.candidate("sane", dynamic, { accuracy: 1, ms: 6 }),
      ],
      stage.workshopFor([]),
      { maxDrop: "none" },
    );
    expect(judged.candidate.name).toBe("sane");
    expect(stage.runtime.timed.map(({ model }) => model)).not.toContain("zeros");
    expect(stage.record.result({} as never).warnings).toContainEqual(expect.stringContaining("zeros is no answer"));

    const alone = await stage.choose(
      [stage.candidate("zeros", staticVariant, { accuracy: 1, ms: 2 })],
      stage.workshopFor([]),
      { maxDrop: "none" },
    );
    expect(alone.judged.ruling.verdict).toMatchObject({ status: "fail", outcome: "accuracy" });
  });

  it("races the first for longer where a disturbance leaves it undecided, and does not take the next for that", async () => {
    const stage = new Stage();
    const fine = stage.candidate("fine", dynamic, { accuracy: 1, ms: 4, sqnrDb: 30 });
    const rough = stage.candidate("rough", staticVariant, { accuracy: 0.9, ms: 5, sqnrDb: 20 });
    let run = 0;
    stage.models["fine"] = {
      ...stage.models["fine"]!,
      latency: () => (stage.runtime.nowMs > 25_000 ? 4 : run++ % 2 === 0 ? 1 : 30),
    };
    const { judged } = await stage.choose([rough, fine], stage.workshopFor([]), { maxDrop: "none" });
    expect(judged.candidate.name).toBe("fine");
    expect(judged.ruling.verdict.outcome).toBe("met");
    expect(stage.runtime.timed.map(({ model }) => model)).not.toContain("rough");
  });

  it("looks at noise last", async () => {
    const stage = new Stage();
    const { judged } = await stage.choose(
      [
        stage.candidate("noise", staticVariant, { accuracy: 1, ms: 2, sqnrDb: 0.1 }),
        stage.candidate("sane", dynamic, { accuracy: 1, ms: 6 }),
      ],
      stage.workshopFor([]),
    );
    expect(judged.candidate.name).toBe("sane");
  });

  it("takes the faster of two files of about the same size, and the smaller of others", async () => {
    const stage = new Stage();
    const files = [
      stage.candidate("slow", integersVariant("weights8"), { accuracy: 1, ms: 13, bytes: 50 }),
      stage.candidate("fast", staticVariant, { accuracy: 1, ms: 4, bytes: 51 }),
      stage.candidate("large", dynamic, { accuracy: 1, ms: 1, bytes: 60 }),
    ];
    const chosen = async (): Promise<string> =>
      (await stage.choose(files, stage.workshopFor([]), {}, { goal: "size" })).judged.candidate.name;
    expect(await chosen()).toBe("fast");
    files[1] = stage.candidate("fast", staticVariant, { accuracy: 1, ms: 4, bytes: 54 });
    expect(await chosen()).toBe("slow");
  });
});
