/** Nodes of candidates by what they compute in: columns of their table, none where no candidate has integers. */
import type { CandidateFacts } from "../pipeline/result.js";

export interface NodesColumn {
  readonly title: string;
  /** null where nobody knows. */
  readonly of: (candidate: CandidateFacts) => number | null;
}

const float: NodesColumn = {
  title: "float",
  // Results of earlier versions have 0 for float models.
  of: ({ quantizedNodes, floatNodes }) => (quantizedNodes === 0 && floatNodes === 0 ? null : floatNodes),
};

const integers: NodesColumn = {
  title: "integers",
  of: ({ quantizedNodes = null, weightNodes = 0 }) => quantizedNodes && quantizedNodes - weightNodes,
};

/** Whose weights alone are integers. */
const weights: NodesColumn = { title: "weights", of: ({ weightNodes = null }) => weightNodes };

/** @param isRoomy whether there is room for more than one */
export function nodesColumns(candidates: readonly CandidateFacts[], isRoomy: boolean): readonly NodesColumn[] {
  const has = ({ of }: NodesColumn): boolean => candidates.some((each) => (of(each) ?? 0) > 0);
  const hasIntegers = candidates.some(({ quantizedNodes }) => quantizedNodes === undefined || quantizedNodes > 0);
  if (!hasIntegers) return [];
  return isRoomy ? [integers, ...(has(weights) ? [weights] : []), float] : [float];
}
