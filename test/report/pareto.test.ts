import { describe, expect, it } from "vitest";
import type { CandidateFacts } from "../../src/pipeline/result.js";
import { candidatePoints, worthOf } from "../../src/report/pareto.js";
import { sampleResult } from "./sample-result.js";

const sample = sampleResult();

type Scores = Pick<CandidateFacts, "speedup" | "accuracy" | "sqnrDb">;

const resultWith = (scores: readonly Partial<Scores>[], higherIsBetter = true) => ({
  ...sample,
  accuracy: { ...sample.accuracy!, metric: "error", higherIsBetter },
  candidates: scores.map((each, i) => ({
    ...sample.candidates[0]!,
    ...{ name: `c${i}`, speedup: null, accuracy: null, sqnrDb: null },
    ...each,
  })),
});

const best = (result: ReturnType<typeof resultWith>) =>
  candidatePoints(result).flatMap(({ candidate, isBest }) => (isBest ? [candidate.name] : []));

describe("candidatePoints", () => {
  it("marks what no other beats on both, equal ones too", () => {
    const points = [
      [1, 0.99],
      [2, 0.98],
      [1.5, 0.97],
      [3, 0.9],
      [3, 0.9],
      [2, 0.95],
    ].map(([speedup, accuracy]) => ({ speedup: speedup!, accuracy: accuracy! }));
    expect(best(resultWith(points))).toEqual(["c0", "c1", "c3", "c4"]);
  });

  it("takes less for better where the metric says so", () => {
    const points = [
      { speedup: 1, accuracy: 0.1 },
      { speedup: 2, accuracy: 0.3 },
      { speedup: 1.5, accuracy: 0.4 },
    ];
    expect(best(resultWith(points, false))).toEqual(["c0", "c1"]);
  });

  it("marks none that was not timed or not measured", () => {
    const points = [{ speedup: 2, accuracy: 0.9 }, { speedup: 3 }, { accuracy: 1 }, { speedup: 1, accuracy: 0.95 }];
    expect(best(resultWith(points))).toEqual(["c0", "c3"]);
  });

  it("compares the SQNR, of which more is better, where only one was measured on the data", () => {
    const result = resultWith(
      [
        { speedup: 2, accuracy: 0.1, sqnrDb: 30 },
        { speedup: 1, sqnrDb: 20 },
      ],
      false,
    );
    expect(worthOf(result)).toMatchObject({ isMetric: false, isHigherBetter: true });
    expect(best(result)).toEqual(["c0"]);
  });
});
