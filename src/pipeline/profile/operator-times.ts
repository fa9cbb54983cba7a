/** Where the time of a candidate goes and went before, told from the profile that it was compared in, or from one of each. */
import { groupBy } from "../../base/group-by.js";
import type { NodeTime } from "../../runtime/port.js";
import type { Candidate } from "../candidates/candidate.js";

/** Of one run each: the sum of what each node took at least. */
export interface OperatorTimesFacts {
  /** The original; the fused model that integers were made of where that alone was profiled. */
  readonly before: readonly OperatorShare[];
  readonly after: readonly OperatorShare[];
}

export interface OperatorShare {
  /** As the runtime executed it: fused and converted operators have names of their own. */
  readonly op: string;
  readonly nodes: number;
  readonly ms: number;
}

/**
 * null where neither is known.
 *
 * @param before steps of the original, and `after` those of the candidate, each profiled by itself: where the candidate's speed was
 * not told by a profile of both
 */
export function operatorTimes(
  { times }: Pick<Candidate, "times">,
  before?: readonly NodeTime[],
  after?: readonly NodeTime[],
): OperatorTimesFacts | null {
  if (times?.original) return { before: byOperator(times.original), after: byOperator(times.own) };
  // What is timed is beside the original: so is this, rather than beside what the passes made of it.
  if (before && after) return { before: byOperator(before), after: byOperator(after) };
  return times ? { before: byOperator(times.float), after: byOperator(times.own) } : null;
}

/** The most time first. */
const byOperator = (nodes: readonly NodeTime[]): readonly OperatorShare[] =>
  [...groupBy(nodes, ({ op }) => op)]
    .map(([op, of]) => ({ op, nodes: of.length, ms: of.reduce((sum, { ms }) => sum + ms, 0) }))
    .sort((a, b) => b.ms - a.ms);
