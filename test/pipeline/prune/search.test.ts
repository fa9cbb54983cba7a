/** The search along the path, with nets that are only widths: how fast each really is, and how accurate, the test says. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { PruneConfig } from "../../../src/pipeline/config.js";
import type { Measured, PrunedJudge } from "../../../src/pipeline/prune/judge-pruned.js";
import { PruneMemory } from "../../../src/pipeline/prune/prune-memory.js";
import type { PrunedFile, PruningKnown } from "../../../src/pipeline/prune/pruned-file.js";
import { PruneSearch } from "../../../src/pipeline/prune/search.js";
import type { SearchFiles } from "../../../src/pipeline/resume/search-files.js";
import type { RunRecord } from "../../../src/pipeline/run-record.js";
import type { LatencyTable } from "../../../src/pruning/choose/latency-table.js";
import { NarrowingPath } from "../../../src/pruning/choose/narrowing-path.js";
import type { Widths } from "../../../src/pruning/choose/widths.js";
import type { ChannelGroup } from "../../../src/pruning/groups/channel-group.js";
import { temporaryFolder } from "../../runtime/ort/workbench.js";

const events: string[] = [];
let learns: number | null = null;

vi.mock("../../../src/pipeline/prune/pruned-file.js", () => ({
  cutFile: (_: unknown, widths: Widths) => fileOf(widths, "cut"),
  prunedFile: (_: unknown, widths: Widths) => {
    events.push("fit");
    return Promise.resolve(fileOf(widths, "fitted"));
  },
  removePruned: () => undefined,
}));
vi.mock("../../../src/pipeline/prune/recover-pruned.js", () => ({
  recoverPruned: (_: unknown, widths: Widths) => {
    events.push("learn");
    return Promise.resolve({
      file: fileOf(widths, "learned"),
      outcome: { step: 1, before: 1, after: 0.5, blocked: new Map() },
    });
  },
}));

type Kind = "cut" | "fitted" | "learned";
type Faked = PrunedFile & { readonly widths: Widths; readonly kind: Kind };

function fileOf(widths: Widths, kind: Kind): Faked {
  const path = join(temporaryFolder(), "net");
  writeFileSync(path, JSON.stringify([kind, ...groups.map((group) => widths.get(group) ?? 128)]));
  return { path, bytes: left(widths), report: null, widths, kind };
}

/** A net of an earlier run is known by its file alone. */
function written(net: string): Pick<Faked, "widths" | "kind"> {
  const [kind, ...kept] = JSON.parse(readFileSync(net, "utf8")) as [Kind, ...number[]];
  return { kind, widths: new Map(groups.map((group, i) => [group, kept[i]!])) };
}

const groups = Array.from(
  { length: 4 },
  (_, i): ChannelGroup =>
    ({ name: `group ${i}`, kind: "channels", width: 128, unitSize: 1, frozen: null }) as unknown as ChannelGroup,
);
const left = (widths: Widths): number => groups.reduce((sum, group) => sum + (widths.get(group) ?? 128), 0);
const WHOLE = 4 * 128;

/** By the table a unit takes a millisecond, and nothing takes time besides. */
const table = {
  totalMs: left,
  savedMs: (_: ChannelGroup, before: Widths, after: Widths) => left(before) - left(after),
} as unknown as LatencyTable;

const path = (): NarrowingPath => {
  const errors = groups.map((group, i) => {
    const removal = {
      order: new Int32Array(128),
      errors: Float64Array.from({ length: 128 }, (_, n) => (n * (i + 1)) ** 2),
    };
    return [group, { removal, scale: 1, none: null }] as const;
  });
  return new NarrowingPath(new Map(errors), table, 16);
};

interface World {
  readonly speedOf: (widths: Widths) => number;
  /** Of the logarithm of what a short race says; next to nothing when absent. */
  readonly deviation?: number;
  /** What intervals of races that decide reach from the middle, as a factor; next to nothing when absent. */
  readonly reach?: (widths: Widths) => number;
  readonly accuracyOf?: (widths: Widths) => number;
  readonly least?: number;
  readonly prune?: Partial<PruneConfig["prune"]>;
  readonly memory?: Partial<PruneMemory>;
  /** Fails when so many things have been done. */
  readonly endsAfter?: number;
}

function searchIn({
  speedOf,
  deviation = 0,
  reach: reachOf = () => 1.01,
  accuracyOf = () => 1,
  least = 0,
  prune = {},
  memory,
  endsAfter,
}: World): PruneSearch {
  const judge: Partial<PrunedJudge> = {
    measureAccuracy: (file) => {
      const { widths, kind } = file as Faked;
      const own = accuracyOf(widths) + (kind === "learned" ? learns! : 0);
      const facts = { candidate: own, higherIsBetter: true, metric: "top1" };
      return Promise.resolve({ accuracy: { facts }, latency: null } as unknown as Measured);
    },
    race: ({ path: net }, _name, _aim, earlier) => {
      if (events.length === endsAfter) throw new Error("interrupted");
      const { kind, widths } = written(net);
      events.push(kind === "cut" ? "race cut" : earlier ? "race again" : "race");
      if (earlier) expect(earlier).toMatchObject({ kind: "fitted", widths });
      const speedup = speedOf(widths);
      const reach = kind === "cut" ? 1.01 * Math.exp(2.576 * deviation) : reachOf(widths);
      const latency = { facts: { speedup, speedupInterval: [speedup / reach, speedup * reach] } };
      return Promise.resolve({ latency, series: written(net) }) as never;
    },
    isAccurate: (_, measured) => measured.accuracy.facts.candidate >= least,
    tell: () => undefined,
    leftMs: prune.budgetMs ?? null,
    rule: () => ({ verdict: { outcome: "missed" }, warnings: [] }) as never,
  };
  const context = { scratch: temporaryFolder() };
  const record = { elapsedMs: 0, context, stage: (_: string, work: () => unknown) => work() };
  const config = { prune: { targetSpeedup: null, keepRatio: null, recover: false, budgetMs: null, ...prune } };
  return new PruneSearch(
    config as PruneConfig,
    { map: { groups } } as unknown as PruningKnown,
    judge as PrunedJudge,
    record as unknown as RunRecord,
    (memory as PruneMemory) ?? new PruneMemory(null),
  );
}

/** As a journal keeps it: JSON. */
function lastingMemory(): PruneMemory {
  const kept = new Map<string, string>();
  const journal = {
    recall: (name: string, what: string) => JSON.parse(kept.get(`${name}: ${what}`) ?? "null") as unknown,
    record: (name: string, what: string, value: unknown) => kept.set(`${name}: ${what}`, JSON.stringify(value)),
  };
  return new PruneMemory({ journal, best: null } as unknown as SearchFiles);
}

/** Nothing but units takes time, or so much besides that no narrowing takes away. */
const truth = (besides: number) => (widths: Widths) => (WHOLE + besides) / (left(widths) + besides);

const count = (event: string): number => events.filter((each) => each === event).length;

beforeEach(() => {
  events.length = 0;
  learns = null;
});

describe("a target for the speed", () => {
  it.each([
    ["as the table says", 0],
    ["less than the table says", 200],
    ["more than the table says", -80],
  ])("is met by the least narrow net where narrowing pays %s", async (_, besides) => {
    const speedOf = truth(besides);
    const search = searchIn({ speedOf, prune: { targetSpeedup: 1.5 } });
    const { widths, measured } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    // One step of 16 units more would miss it, or all but miss it.
    expect((WHOLE + besides) / (left(widths) + 32 + besides)).toBeLessThan(1.5 * 1.04);
    expect(count("fit")).toBeLessThanOrEqual(4 + 2);
    expect(count("race")).toBe(1);
    expect(count("race cut")).toBeLessThanOrEqual(8);
  });

  it("is met by the most accurate of those that reach it, which is not the one that was thought to be", async () => {
    const accuracyOf = (widths: Widths): number => [...widths.values()][3]! / 128;
    const search = searchIn({ speedOf: truth(0), accuracyOf, prune: { targetSpeedup: 1.5 } });
    const chosen = (await search.along(path()))!;
    const others = search.tried.map(({ measured }) => measured.accuracy.facts.candidate);
    expect(new Set(others).size).toBeGreaterThan(1);
    expect(chosen.measured.accuracy.facts.candidate).toBe(Math.max(...others));
    expect(chosen.measured.latency!.facts.speedup).toBeGreaterThanOrEqual(1.5);
  });

  it("lets only the net learn that is chosen", async () => {
    learns = 0.01;
    const search = searchIn({ speedOf: truth(0), prune: { targetSpeedup: 1.5, recover: true } });
    const { file } = (await search.along(path()))!;
    expect((file as Faked).kind).toBe("learned");
    expect(count("learn")).toBe(1);
    // The file that is delivered is timed, on top of the race that decided which one it is.
    expect(events.slice(events.indexOf("learn"))).toEqual(["learn", "race again"]);
  });

  it("lets the next one learn where the times of what has learned no longer prove the target", async () => {
    learns = 0.01;
    // Of nets that are just fast enough, the race after learning tells a little less.
    const search = searchIn({
      speedOf: (widths) =>
        truth(0)(widths) *
        (events.at(-1) === "race cut" ? 0.75 : events.at(-1) === "race again" && left(widths) > 270 ? 0.9 : 1),
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5, recover: true },
    });
    const { measured, file } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    expect((file as Faked).kind).toBe("learned");
    expect(count("learn")).toBeGreaterThan(1);
  });

  it("lets faster ones learn where none that has learned proves the target", async () => {
    learns = 0.01;
    const search = searchIn({
      // After learning, no net that had proved the target is so fast any more.
      speedOf: (widths) => truth(0)(widths) * (events.at(-1) === "race again" ? 0.9 : 1),
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5, recover: true },
    });
    const { measured, file } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    expect(measured.latency!.facts.speedup).toBeLessThan(1.5 * 1.25);
    expect((file as Faked).kind).toBe("learned");
    expect(events.at(-1)).toBe("race");
  });

  it("is aimed at from as far above as intervals turn out to be wide", async () => {
    const search = searchIn({
      speedOf: truth(0),
      reach: () => 1.15,
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5 },
    });
    const { measured } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    expect(measured.latency!.facts.speedup).toBeLessThan(1.5 * 1.25);
    // One that cannot prove it, one that does.
    expect(count("race")).toBe(2);
  });

  it("comes back to milder nets where short races said too little of all of them", async () => {
    // What is cut seems slower by a sixth than what is delivered is.
    const search = searchIn({
      speedOf: (widths) => truth(0)(widths) * (events.at(-1) === "race cut" ? 0.85 : 1),
      deviation: 0.1,
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5, recover: true },
    });
    learns = 0;
    const { measured } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedup).toBeGreaterThanOrEqual(1.5);
    expect(measured.latency!.facts.speedup).toBeLessThan(1.5 * 1.2);
    expect(count("learn")).toBe(1);
  });

  it("halves what lies between the whole net and one that is much too fast", async () => {
    // By short races, nets are slower by a quarter than they are.
    const search = searchIn({
      speedOf: (widths) => truth(0)(widths) * (events.at(-1) === "race cut" ? 0.75 : 1),
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5 },
    });
    const { speedup, speedupInterval } = (await search.along(path()))!.measured.latency!.facts;
    expect(speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    expect(speedup).toBeLessThan(1.5 * 1.08);
    expect(Math.max(...search.tried.map(({ measured }) => measured.latency?.facts.speedup ?? 0))).toBeGreaterThan(1.9);
    expect(count("race")).toBeLessThanOrEqual(1 + 3);
    expect(count("fit")).toBeLessThanOrEqual(4 + 3 * 2);
  });

  it("halves again where the one half way is too slow", async () => {
    // Wide nets are slower than all that is known of others tells.
    const speedOf = (widths: Widths): number => truth(0)(widths) * (left(widths) > 300 ? 0.85 : 1);
    const search = searchIn({
      speedOf: (widths) => speedOf(widths) * (events.at(-1) === "race cut" ? 0.75 : 1),
      accuracyOf: (widths) => left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5 },
    });
    const { widths, measured } = (await search.along(path()))!;
    const { speedup, speedupInterval } = measured.latency!.facts;
    expect(speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
    expect(left(widths)).toBeGreaterThanOrEqual(256);
    expect(speedup).toBeLessThanOrEqual(2);
    const raced = search.tried.flatMap(({ measured: { latency } }) => latency?.facts.speedupInterval[0] ?? []);
    expect(Math.min(...raced)).toBeLessThan(1.5);
    expect(count("race")).toBeLessThanOrEqual(1 + 3);
  });

  it("takes no milder net that is less accurate", async () => {
    const search = searchIn({
      speedOf: (widths) => truth(0)(widths) * (events.at(-1) === "race cut" ? 0.75 : 1),
      accuracyOf: (widths) => 1 - left(widths) / WHOLE,
      prune: { targetSpeedup: 1.5 },
    });
    const chosen = (await search.along(path()))!;
    expect(chosen.measured.latency!.facts.speedup).toBeGreaterThan(1.9);
    expect(count("race")).toBe(1);
  });

  it("goes on with the next one where the race that decides says that one is too slow after all", async () => {
    // A short race of what is cut flatters by 5 %.
    const search = searchIn({
      speedOf: (widths) => truth(0)(widths) * (events.at(-1) === "race cut" ? 1.05 : 1),
      prune: { targetSpeedup: 1.5 },
    });
    const { measured } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedupInterval[0]).toBeGreaterThanOrEqual(1.5);
  });

  it("that no net reaches ends with the fastest", async () => {
    const search = searchIn({ speedOf: truth(5000), prune: { targetSpeedup: 3 } });
    const { measured } = (await search.along(path()))!;
    expect(measured.latency!.facts.speedup).toBeLessThan(1.2);
    expect(count("fit")).toBeLessThanOrEqual(3);
  });

  it("ends soon where what is measured is nothing but chance", async () => {
    let seed = 7;
    const speedOf = (): number => {
      seed = (seed * 16807) % 2147483647;
      return 0.8 + (2 * seed) / 2147483647;
    };
    const search = searchIn({ speedOf, prune: { targetSpeedup: 1.5 } });
    expect(await search.along(path())).not.toBeNull();
    expect(count("race cut")).toBeLessThanOrEqual(3 * 8);
    expect(count("fit")).toBeLessThanOrEqual(3 * 4);
  });

  it.each([false, true])(
    "stops with what it has when the time is over, also where it was to learn: %s",
    async (recover) => {
      const search = searchIn({ speedOf: truth(200), prune: { targetSpeedup: 1.5, budgetMs: -1, recover } });
      const { recovery } = (await search.along(path()))!;
      expect(events).toEqual(["fit", "race"]);
      expect(recovery).toEqual(recover ? { reason: "no time was left to learn" } : null);
    },
  );
});

describe("a limit for the accuracy", () => {
  it("is met by the fastest net that is accurate", async () => {
    const accuracyOf = (widths: Widths): number => left(widths) / WHOLE;
    const search = searchIn({ speedOf: truth(50), accuracyOf, least: 0.55 });
    const { widths } = (await search.along(path()))!;
    expect(left(widths) / WHOLE).toBeGreaterThanOrEqual(0.55);
    expect(left(widths) / WHOLE).toBeLessThan(0.65);
    expect(count("fit")).toBeLessThanOrEqual(6);
  });

  it("lets only those learn that are not accurate yet, and keeps that where it is no worse", async () => {
    learns = 0.05;
    const accuracyOf = (widths: Widths): number => left(widths) / WHOLE;
    const search = searchIn({ speedOf: truth(50), accuracyOf, least: 0.6, prune: { recover: true } });
    const { measured, file, recovery } = (await search.along(path()))!;
    expect(measured.accuracy.facts.candidate).toBeGreaterThanOrEqual(0.6);
    expect(count("learn")).toBeGreaterThan(0);
    expect(count("learn")).toBeLessThanOrEqual(count("fit"));
    expect((file as Faked).kind === "learned").toBe(recovery !== null);
    learns = -0.1;
    const worse = await searchIn({ speedOf: truth(50), accuracyOf, prune: { recover: true } }).only(
      new Map(),
      "as it is",
    );
    expect((worse.file as Faked).kind).toBe("fitted");
  });
});

it("times a net of an earlier run again where its file cannot be made again", async () => {
  const facts = (speedup: number) => ({ facts: { speedup, speedupInterval: [speedup, speedup] } }) as never;
  const kept: unknown[] = [];
  const memory: Partial<PruneMemory> = {
    tried: () => ({ sha256: "of other bytes", accuracy: { facts: { candidate: 1 } } }) as never,
    race: () => facts(9),
    keepRace: (_, latency) => void kept.push(latency),
    files: null,
  };
  const search = searchIn({ speedOf: () => 1.2, memory });
  const tried = await search.only(new Map(), "as it is");
  expect(tried.measured.latency!.facts.speedup).toBe(9);
  Object.assign(search.judge, { compare: () => Promise.resolve([]) });
  await search.complete(tried);
  expect(tried.measured.latency!.facts.speedup).toBe(1.2);
  expect(kept).toEqual([tried.measured.latency]);
});

it("says so where there is nothing to narrow", async () => {
  const only = new NarrowingPath(new Map(), table, 16);
  expect(await searchIn({ speedOf: () => 1, prune: { targetSpeedup: 1.5 } }).along(only)).toBeNull();
});

describe("a search that was cut short", () => {
  const accuracyOf = (widths: Widths): number => 0.9 + ([...widths.values()][3]! / 128) * 0.1;
  let calls = 0;
  /** No two races tell quite the same. */
  const speedOf = (widths: Widths): number => truth(60)(widths) * (1 + 0.02 * Math.sin(++calls));
  const worlds: readonly (readonly [string, Omit<World, "memory">])[] = [
    ["for a speed", { speedOf, accuracyOf, prune: { targetSpeedup: 1.5 } }],
    ["for a speed, learning", { speedOf, accuracyOf, prune: { targetSpeedup: 1.5, recover: true } }],
    ["for the fastest accurate one", { speedOf, accuracyOf, least: 0.95 }],
  ];

  it.each(worlds)(
    "%s goes on where it was: what was done is not done again, and the choice is the same",
    async (_, world) => {
      learns = 0.001;
      const memory = lastingMemory();
      const whole = (await searchIn({ ...world, memory }).along(path()))!;
      const done = [...events];
      for (let endsAfter = 1; endsAfter < done.length; endsAfter++) {
        events.length = 0;
        calls = 0;
        const again = lastingMemory();
        await searchIn({ ...world, memory: again, endsAfter })
          .along(path())
          .catch(() => undefined);
        const before = events.length;
        const resumed = (await searchIn({ ...world, memory: again }).along(path()))!;
        const undisturbed = (await searchIn({ ...world, memory: again }).along(path()))!;
        expect([...resumed.widths.values()]).toEqual([...undisturbed.widths.values()]);
        expect(resumed.measured.accuracy.facts.candidate).toBe(undisturbed.measured.accuracy.facts.candidate);
        expect(before).toBeGreaterThanOrEqual(endsAfter);
      }
      events.length = 0;
      const recalled = (await searchIn({ ...world, memory }).along(path()))!;
      expect(events).toEqual([]);
      expect([...recalled.widths.values()]).toEqual([...whole.widths.values()]);
      expect(recalled.measured.latency).toEqual(whole.measured.latency);
    },
  );
});
