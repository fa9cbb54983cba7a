import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import { mayBeWorthIt, worthItsTime } from "../../../src/pipeline/search/worth-its-time.js";

const made = (...each: readonly (readonly [speedup: number, sqnrDb: number | null, bytes?: number])[]) =>
  each.map(([speedup, sqnrDb, bytes = 100]) => ({ speedup, sqnrDb, built: { bytes } }) as Candidate);

describe("worthItsTime", () => {
  it.each([
    ["the fastest where the others are no more accurate", made([2, 20], [1.95, 20.2]), 0],
    ["one that is more accurate by more than its time is worth", made([2, 20], [1.95, 22.2]), 1],
    ["not one that gives up more than that", made([2, 20], [1.9, 22.2]), 0],
    ["the best of several", made([2, 20], [1.98, 21.5], [1.94, 26], [1.9, 26.5]), 2],
    ["not one whose file is larger by more than that", made([2, 20, 100], [1.99, 22, 109]), 0],
    ["one whose file is little larger", made([2, 20, 100], [1.99, 22, 104]), 1],
    ["the fastest of those that are all accurate enough", made([2, 36], [1.99, 50]), 0],
    ["what has more in float and is as fast, though a little worse on these samples", made([2, 20], [2.01, 19.4]), 1],
    ["not what is clearly worse", made([2, 20], [2.01, 17]), 0],
    ["the fastest where errors cannot be measured", made([2, null], [1.99, null]), 0],
    ["none that was not measured beside one that was", made([2, -3], [2.01, null]), 0],
  ])("takes %s", (_, candidates, best) => expect(candidates.indexOf(worthItsTime(candidates))).toBe(best));

  it.each([
    ["the difference between them", 20, 12, 14.2, 1],
    ["the difference between them, where that is too little", 20, 12, 13, 0],
    ["and the answers for whether more is worth anything", 36, 12, 20, 0],
  ])("asks what the last products read for %s", (_, answersDb, fastDb, carefulDb, best) => {
    const told = (sqnrDb: number) => ({ inner: { sqnrDb, pooledDb: sqnrDb } });
    const [fast, careful] = made([2, answersDb], [1.95, 0]) as [Candidate, Candidate];
    const pair: Candidate[] = [
      { ...fast, ...told(fastDb) },
      { ...careful, ...told(carefulDb) },
    ];
    expect(pair.indexOf(worthItsTime(pair))).toBe(best);
  });

  it("takes one that runs before one that is refused", () => {
    const [fast, careful] = made([2, Number.NEGATIVE_INFINITY], [1.95, 21]) as [Candidate, Candidate];
    expect(worthItsTime([fast, careful])).toBe(careful);
  });
});

describe("mayBeWorthIt", () => {
  it.each([
    ["what may gain as much as all of it in float, at a lower price", [1.99, null], [2, 20], [1.94, 23], true],
    ["nothing where all of it in float gains less than the part costs", [1.96, null], [2, 20], [1.94, 20.5], false],
    ["nothing where the file grows by more than that", [2, null, 114], [2, 32.1], [1.97, 33.3, 118], false],
    ["what costs nothing, as far as chance says otherwise", [2, null], [2, 20], [1.94, 19], true],
    ["anything where the fastest was not measured", [1.9, null], [2, null], [1.94, 20], true],
    ["anything where one of the others is refused", [1.9, null], [2, 20], [1.94, Number.NEGATIVE_INFINITY], true],
  ] as const)("measures %s", (_, each, fast, careful, isWanted) => {
    const [candidate, ...others] = made(each, fast, careful);
    expect(mayBeWorthIt(candidate!, others[0]!, others[1]!)).toBe(isWanted);
  });
});
