import { describe, expect, it } from "vitest";
import { correctionNote, judgeCorrection, samplesToFit } from "../../src/pipeline/corrections.js";

const fitOf = (count: number, indices?: readonly number[]) => ({
  ref: { path: "c.npz", ...(indices && { indices }) },
  count,
  digest: "",
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
  it.each([
    [10, 11, true],
    [10, 10.01, false],
    [10, 9, false],
    [null, 11, false],
    [10, null, false],
    [10, Number.NEGATIVE_INFINITY, false],
  ])("%s -> %s dB", (before, after, isKept) => {
    expect(judgeCorrection("outputs", "", before, after).isKept).toBe(isKept);
  });

  it("says in words what came of it", () => {
    expect(correctionNote(judgeCorrection("equalize", "3 channels", 10, 9.5))).toBe(
      "correction equalize (3 channels) left out: 10.0 -> 9.5 dB on other samples",
    );
    expect(correctionNote(judgeCorrection("equalize", "3 channels", null, null))).toBe(
      "correction equalize (3 channels) left out",
    );
  });
});
