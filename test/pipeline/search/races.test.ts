import { expect, it } from "vitest";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import type { Judged } from "../../../src/pipeline/search/judge-candidate.js";
import { Races } from "../../../src/pipeline/search/races.js";
import { integersVariant } from "../../support/candidates.js";

/** Candidates of these speeds, as estimated; raced they have others, and some meet their limits. */
function races() {
  const judge = {
    race: async (candidate: Candidate): Promise<Judged> => {
      const [speedup, outcome] = candidate.name.split(" ");
      Object.assign(candidate, { estimate: candidate.speedup, speedup: Number(speedup) });
      return { candidate, latency: null, ruling: { verdict: { outcome } } } as unknown as Judged;
    },
  };
  const race = (estimate: number | null, result: string): Candidate =>
    ({ name: result, speedup: estimate, variant: integersVariant("dynamic") }) as Candidate;
  return { held: new Races(judge, ({ speedup }) => speedup! >= 1.5), race };
}

it("knows the fastest that met its limits, and the fastest of all where none did", async () => {
  const { held, race } = races();
  expect([held.best, held.fastest, held.leastToWin]).toEqual([null, null, 0]);
  const missed = race(3, "2.5 latency");
  expect(await held.race(missed)).toBeNull();
  await held.race(race(3, "2 latency"));
  expect([held.best?.candidate, held.fastest]).toEqual([missed, null]);
  const slow = race(1.9, "1.2 met");
  expect((await held.race(slow))?.candidate).toBe(slow);
  expect([held.best?.candidate, held.hasWinner]).toEqual([slow, false]);
  await held.race(race(1.8, "1.6 met"));
  expect([held.fastest?.candidate.speedup, held.hasWinner, held.last?.candidate.speedup]).toEqual([1.6, true, 1.6]);
  expect([held.has(slow), held.has(race(1, "1 met"))]).toEqual([true, false]);
});

it("has no winner in what was withdrawn, however fast", async () => {
  const { held, race } = races();
  await held.race(race(1.9, "1.2 met"));
  const rival = held.fastest!.candidate;
  held.withdraw((await held.race(race(3, "2 met")))!, rival);
  expect([held.fastest?.candidate.speedup, held.best?.candidate.speedup, held.hasWinner]).toEqual([1.2, 1.2, false]);
});

it("has a float model ahead of integers that are hardly faster: it loses nothing", async () => {
  for (const [integers, ahead] of [
    ["1.64 met", "1.6 met"],
    ["1.72 met", "1.72 met"],
  ] as const) {
    const { held, race } = races();
    await held.race({ ...race(1.6, "1.6 met"), variant: { kind: "fused" } });
    await held.race(race(1.6, integers));
    expect(held.fastest?.candidate.name).toBe(ahead);
  }
});

it("holds others to what it was estimated at, like them, and to its measured speed where nothing estimated it", async () => {
  const { held, race } = races();
  await held.race(race(2, "1.2 met"));
  expect([2.2, 2.3].map((estimate) => held.mayWin(race(estimate, "1 met")))).toEqual([false, true]);
  const { held: unestimated } = races();
  await unestimated.race(race(null, "1.2 met"));
  expect([1.3, 1.4].map((estimate) => unestimated.mayWin(race(estimate, "1 met")))).toEqual([false, true]);
});

it("tells of each loser what the race said, and why that is not enough", async () => {
  const judge = {
    race: async (candidate: Candidate): Promise<Judged> => {
      const { speedup, name } = candidate;
      candidate.interval = [speedup! - 0.1, speedup! + 0.1];
      const verdict = { outcome: name, summary: "no gain: 1.01x as fast" };
      return { candidate, latency: {}, ruling: { verdict } } as unknown as Judged;
    },
  };
  const held = new Races(judge, () => true);
  const raced = async (name: string, speedup: number, note = "", variant: Variant = integersVariant("dynamic")) => {
    const candidate = { name, speedup, note, variant } as Candidate;
    await held.race(candidate);
    return candidate;
  };
  const none = await raced("no-gain", 1.01);
  const slower = await raced("met", 1.2, "3 of 9 regions kept in float");
  const close = await raced("met", 1.62);
  const winner = await raced("met", 1.6, "", { kind: "fused" });
  held.explain(winner);
  expect(none.note).toBe("no gain: 1.01x as fast");
  expect(slower.note).toBe(
    "3 of 9 regions kept in float; slower in a race: 1.20x (1.10 to 1.30) against 1.60x (1.50 to 1.70)",
  );
  expect(close.note).toContain("1.62x (1.52 to 1.72) in a race against 1.60x");
  expect(close.note).toContain("integers have to be 5 % ahead of a float model");
  expect(winner.note).toBe("");
});
