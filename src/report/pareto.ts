/** Every candidate by speed and accuracy, and which ones no other beats on both. */
import { exceeds } from "../base/exceeds.js";
import type { CandidateFacts, RunResult } from "../pipeline/result.js";
import { commonSpeed } from "./candidate-speed.js";

export interface CandidatePoint {
  readonly candidate: CandidateFacts;
  /** Times as fast as before, of all in one measure; null where it is not known in that. */
  readonly speed: number | null;
  /** Of the scale that `worthOf` names. */
  readonly worth: number | null;
  /** Beaten by no other on both. */
  readonly isBest: boolean;
}

export interface Worth {
  readonly title: string;
  readonly isMetric: boolean;
  readonly isHigherBetter: boolean;
}

/** The metric where at least two candidates have one, else the SQNR of the search. */
export function worthOf({ candidates, accuracy }: RunResult): Worth {
  const scored = candidates.filter((each) => each.accuracy !== null && each.speedup !== null);
  return scored.length > 1
    ? { title: accuracy?.metric ?? "accuracy", isMetric: true, isHigherBetter: accuracy?.higherIsBetter ?? true }
    : { title: "SQNR dB", isMetric: false, isHigherBetter: true };
}

export function candidatePoints(result: RunResult): CandidatePoint[] {
  const { isMetric, isHigherBetter } = worthOf(result);
  const sign = isHigherBetter ? 1 : -1;
  const { of: speedOf } = commonSpeed(result.candidates);
  const points = result.candidates.map((candidate) => ({
    candidate,
    speed: speedOf(candidate),
    worth: isMetric ? candidate.accuracy : candidate.sqnrDb,
  }));
  const beats = (a: (typeof points)[number], b: (typeof points)[number]): boolean => {
    if (a.speed === null || b.speed === null || a.worth === null || b.worth === null) return false;
    return exceeds([a.speed - b.speed, sign * (a.worth - b.worth)]);
  };
  return points.map((point) => ({
    ...point,
    isBest: point.speed !== null && point.worth !== null && !points.some((other) => beats(other, point)),
  }));
}
