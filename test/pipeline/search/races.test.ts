import { expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
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
