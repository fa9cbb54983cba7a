/** Why a candidate was taken or not: what the search said, and where it said nothing, how it compares with the one that was taken. */
import type { CandidateFacts, RunResult } from "../pipeline/result.js";
import { speedsOf } from "./candidate-speed.js";
import { ratio, score, significant } from "./numbers.js";

export function candidateWhy(candidate: CandidateFacts, { candidates, accuracy }: RunResult): string {
  const taken = candidates.find(({ chosen }) => chosen);
  if (candidate.reason !== "" || !taken || candidate === taken) return candidate.reason;
  const against = (
    word: string,
    of: (each: CandidateFacts) => number | null,
    isWorse: (own: number, other: number) => boolean,
    show: (value: number) => string,
  ): string[] => {
    const [own, other] = [of(candidate), of(taken)];
    if (own === null || other === null || !isWorse(own, other)) return [];
    return [`${word}: ${show(own)} against ${show(other)}`];
  };
  const isLower = (own: number, other: number): boolean => own < other;
  const isHigher = (own: number, other: number): boolean => own > other;
  const lost = against(
    "less accurate",
    (each) => each.accuracy,
    accuracy?.higherIsBetter === false ? isHigher : isLower,
    score,
  );
  const speeds = speedsOf(candidate, taken);
  const [{ title: measure }, own, other] = speeds ?? [{ title: "" }, 0, 0];
  const parts = [
    ...(own < other
      ? [`slower${measure === "estimate" ? " by estimate" : ""}: ${ratio(own)} against ${ratio(other)}`]
      : []),
    ...lost,
    ...(lost.length > 0
      ? []
      : against(
          "farther from the original",
          (each) => each.sqnrDb,
          isLower,
          (db) => `${significant(db)} dB`,
        )),
    ...(candidate.speedup === null && taken.speedup !== null ? ["not timed"] : []),
  ];
  return parts.join("; ");
}
