/** Which nodes of the model that was read each node of a rewritten one stands for, as results keep it. */
import { type Model, nodesWithin } from "../../ir/index.js";

/** A node that stands for others, or for one of another name. */
export interface ProvenanceFacts {
  readonly node: string;
  /** Names in the model that was read; none for a node that rewrites made of nothing that was there. */
  readonly from: readonly string[];
}

/** Of all names together: what was unrolled can stand for the same hundreds of nodes a thousand times. */
const MOST_NAMES = 50_000;

/** Nodes that are what they were are left out; null where it would be too much to keep. */
export function provenanceOf({ graph }: Model): readonly ProvenanceFacts[] | null {
  const facts: ProvenanceFacts[] = [];
  let names = 0;
  for (const { displayName: node, provenance: from } of nodesWithin(graph)) {
    if (from.length === 1 && from[0] === node) continue;
    names += from.length;
    if (names > MOST_NAMES) return null;
    facts.push({ node, from });
  }
  return facts;
}

/** Of a model that was made of another in two steps. */
export function throughBoth(
  first: readonly ProvenanceFacts[] | null,
  second: readonly ProvenanceFacts[] | null,
): readonly ProvenanceFacts[] | null {
  if (!first || !second) return null;
  const origins = new Map(first.map(({ node, from }) => [node, from]));
  const changed = second.map(({ node, from }) => ({
    node,
    from: [...new Set(from.flatMap((name) => origins.get(name) ?? [name]))],
  }));
  const again = new Set(second.map(({ node }) => node));
  return [...first.filter(({ node }) => !again.has(node)), ...changed];
}
