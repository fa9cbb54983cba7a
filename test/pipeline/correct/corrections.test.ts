import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import {
  correctionNote,
  judgeCorrection,
  keepBetter,
  samplesToFit,
} from "../../../src/pipeline/correct/corrections.js";

const fitOf = (count: number, indices?: readonly number[]) => ({
  ref: { path: "c.npz", ...(indices && { indices }) },
  count,
});
const trial = (...indices: number[]) => ({ path: "c.npz", indices });

describe("samplesToFit", () => {
  it("takes what does not judge, spread over the set", () => {
    expect(samplesToFit({ fit: fitOf(10), trial: trial(0, 5) })?.indices).toEqual([1, 2, 3, 4, 6, 7, 8, 9]);
    expect(samplesToFit({ fit: fitOf(10), trial: trial(0, 5) }, 4)?.indices).toEqual([1, 3, 6, 8]);
    expect(samplesToFit({ fit: fitOf(8, [20, 21, 22, 23, 24]), trial: trial(20) })?.indices).toEqual([21, 22, 23, 24]);
  });

  it("takes none when too few are left, when they judge alone, or when there are none", () => {
    expect(samplesToFit({ fit: fitOf(6), trial: trial(0, 1, 2) })).toBeNull();
    expect(samplesToFit({ fit: null, trial: trial(0) })).toBeNull();
    expect(samplesToFit({ fit: fitOf(10), trial: { path: "other.npz" } })).toBeNull();
    expect(
      samplesToFit({ fit: { ...fitOf(10), ref: { path: "c.npz", random: { seed: 1, count: 10 } } }, trial: trial(0) }),
    ).toBeNull();
  });
});

describe("judgeCorrection", () => {
  const measured = (sqnrDb: number | null, pooledDb?: number) => ({
    sqnrDb,
    ...(pooledDb !== undefined && { pooledDb }),
  });

  it.each([
    [10, 11, true],
    [10, 10.01, false],
    [10, 9, false],
    [null, 11, false],
    [10, null, false],
    [10, Number.NEGATIVE_INFINITY, false],
  ])("%s -> %s dB", (before, after, isKept) => {
    expect(judgeCorrection("outputs", "", measured(before), measured(after)).isKept).toBe(isKept);
  });

  it("weighs what most samples gain against what the largest answers lose", () => {
    expect(judgeCorrection("outputs", "", measured(16.1, 16.3), measured(16.7, 13.4))).toEqual({
      ...{ correction: "outputs", isKept: false, detail: "" },
      ...{ beforeDb: 16.1, afterDb: 16.7, beforePooledDb: 16.3, afterPooledDb: 13.4 },
    });
    expect(judgeCorrection("outputs", "", measured(16.1, 16.3), measured(16.7, 16)).isKept).toBe(true);
    expect(judgeCorrection("outputs", "", measured(16.1, 16.3), measured(16, 16.9)).isKept).toBe(true);
  });

  it("asks a dozen answers no more where samples left out of the fit have judged already", () => {
    const judged = (after: number) => judgeCorrection("outputs", "", measured(10), measured(after), 0.5);
    expect(judged(9)).toMatchObject({ isKept: true, leftOutGainDb: 0.5, beforeDb: 10, afterDb: 9 });
    for (const none of [Number.NEGATIVE_INFINITY, Number.NaN]) expect(judged(none).isKept).toBe(false);
    expect(correctionNote(judged(9))).toBe(
      "correction outputs () applied: 10.0 -> 9.0 dB on samples to judge by, gain 0.5 dB on those left out of its fit",
    );
  });

  it("says in words what came of it", () => {
    const [before, after] = [measured(10, 10), measured(9.5, 9.5)];
    expect(correctionNote(judgeCorrection("equalize", "3 channels", before, after))).toBe(
      "correction equalize (3 channels) left out: 10.0 -> 9.5 dB on samples to judge by",
    );
    expect(correctionNote(judgeCorrection("equalize", "3 channels", null, null))).toBe(
      "correction equalize (3 channels) left out",
    );
    expect(correctionNote(judgeCorrection("means", "2 inputs", before, measured(10.02, 10.01)))).toBe(
      "correction means (2 inputs) left out: 10.0 -> 10.0 dB on samples to judge by",
    );
    expect(correctionNote(judgeCorrection("outputs", "0.8 x", before, measured(10.6, 7)))).toBe(
      "correction outputs (0.8 x) left out: 10.0 -> 10.6 dB in the mean, 10.0 -> 7.0 dB all together on samples to judge by",
    );
  });
});

describe("keepBetter", () => {
  const shop = { discard: () => {} };
  const measured = (name: string, sqnrDb: number) => ({ name, sqnrDb }) as Candidate;

  it("keeps of each pair what is closer to the float model, and discards the other", () => {
    const [better, worse, alone] = [measured("better", 10), measured("worse", 10), measured("alone", 10)];
    const corrected = new Map([
      [better, measured("better corrected", 12)],
      [worse, measured("worse corrected", 9)],
    ]);
    const discarded: string[] = [];
    const workshop = { ...shop, discard: ({ name }: Candidate) => void discarded.push(name) };
    const { candidates, facts } = keepBetter("outputs", "2 lines", [alone, better, worse], corrected, workshop);
    expect(candidates.map(({ name }) => name)).toEqual(["alone", "better corrected", "worse"]);
    expect(discarded).toEqual(["better", "worse corrected"]);
    expect(facts).toMatchObject({ correction: "outputs", isKept: true, beforeDb: 10, afterDb: 12 });
  });

  it("goes by what the last products read where both have that, unless these are what was changed", () => {
    const told = (name: string, sqnrDb: number, innerDb: number) =>
      ({ name, sqnrDb, inner: { sqnrDb: innerDb, pooledDb: innerDb } }) as Candidate;
    const [plain, rounded] = [told("plain", 12, 20), told("rounded", 9, 21)];
    const workshop = shop;
    const kept = keepBetter("means", "2 inputs", [plain], new Map([[plain, rounded]]), workshop);
    expect(kept.candidates).toEqual([rounded]);
    expect(kept.facts).toMatchObject({ beforeDb: 20, afterDb: 21, judgedBy: "inputs of the last products" });
    expect(correctionNote(kept.facts!)).toBe(
      "correction means (2 inputs) applied: 20.0 -> 21.0 dB of inputs of the last products on samples to judge by",
    );
    const outputs = keepBetter("outputs", "0.8 x", [plain], new Map([[plain, rounded]]), workshop, { isOfLast: true });
    expect(outputs.candidates).toEqual([plain]);
    expect(outputs.facts).toMatchObject({ beforeDb: 12, afterDb: 9 });
    expect(outputs.facts).not.toHaveProperty("judgedBy");
  });

  it("lets the samples of a fit decide of the candidate that it was fitted to, and of no other", () => {
    const [first, second] = [measured("first", 10), measured("second", 10)];
    const corrected = new Map([
      [first, measured("first corrected", 9)],
      [second, measured("second corrected", 9)],
    ]);
    const { candidates, facts } = keepBetter("outputs", "", [first, second], corrected, shop, { leftOutGainDb: 0.5 });
    expect(candidates.map(({ name }) => name)).toEqual(["first corrected", "second"]);
    expect(facts).toMatchObject({ isKept: true, leftOutGainDb: 0.5 });
  });

  it("has nothing to tell where no candidate has a corrected form", () => {
    const kept = keepBetter("rounding", "", [measured("alone", 10)], new Map(), shop);
    expect(kept.facts).toBeNull();
  });
});
