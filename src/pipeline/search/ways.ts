/** Several ways to a faster model, each judged as a whole against the same original: which is the best, and which no other exceeds. */
import { exceeds } from "../../base/exceeds.js";
import type { AccuracyFacts, CandidateFacts, LatencyFacts, ParetoEntry, RunResult, Verdict } from "../result.js";

export interface Way {
  readonly name: string;
  /** What a result says of it. */
  readonly findings: Partial<RunResult>;
  readonly verdict: Verdict;
  readonly latency: LatencyFacts | null;
  readonly accuracy: AccuracyFacts | null;
  readonly bytes: number;
  /** Where its file is; null where none was made. */
  readonly path: string | null;
  readonly candidates: readonly CandidateFacts[];
  /** Those that make it again. */
  readonly commands: readonly string[];
}

/** Those that meet their limits come first, the best by the goal before others; of those that do not, in their order. */
export function bestFirst(ways: readonly Way[], goal: "speed" | "size"): readonly Way[] {
  const merit = ({ verdict, latency, bytes }: Way): number => {
    if (verdict.outcome !== "met") return Number.NEGATIVE_INFINITY;
    return goal === "size" ? -bytes : (latency?.speedup ?? 0);
  };
  const descending = (a: number, b: number): number => (a === b ? 0 : b - a);
  return [...ways].sort((a, b) => descending(merit(a), merit(b)));
}

/** Those that were timed and judged, and that no other one exceeds in speed, accuracy and size; the slowest first. */
export function undominated(ways: readonly Way[], chosen: Way): readonly ParetoEntry[] {
  const timed = ways.flatMap((way) => {
    const { latency, accuracy } = way;
    return latency && accuracy ? [{ way, latency, accuracy }] : [];
  });
  const gains = (a: (typeof timed)[number], b: (typeof timed)[number]): readonly number[] => [
    a.latency.speedup - b.latency.speedup,
    (a.accuracy.higherIsBetter ? 1 : -1) * (a.accuracy.candidate - b.accuracy.candidate),
    b.way.bytes - a.way.bytes,
  ];
  return timed
    .filter((each) => !timed.some((other) => exceeds(gains(other, each))))
    .sort((a, b) => a.latency.speedup - b.latency.speedup)
    .map(({ way, latency: { speedup, speedupInterval }, accuracy }) => ({
      ...{ name: way.name, bytes: way.bytes, accuracy: accuracy.candidate, speedup, speedupInterval },
      chosen: way === chosen && way.verdict.outcome === "met",
      meetsLimits: way.verdict.outcome === "met",
      commands: way.commands,
    }));
}
