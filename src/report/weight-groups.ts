/** Weights by the part of the model that reads them: scopes of names as deep as there is room for, and types. */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";

export interface WeightGroup {
  readonly name: string;
  readonly type: string;
  readonly nodes: number;
  readonly bytes: number;
}

const MOST_GROUPS = 60;

/** The largest first; what is too small to be seen is one group at the end. */
export function weightGroups(graph: GraphFacts, most = MOST_GROUPS): WeightGroup[] {
  const { nodes, weightBytes, weightTypes } = graph;
  const readerOf = readersOfConversions(graph);
  const readers = nodes.flatMap((_, i) =>
    weightBytes[i]! > 0 ? [{ node: nodes[readerOf(i)]!, type: weightTypes[i]!, bytes: weightBytes[i]! }] : [],
  );
  const deepest = Math.max(0, ...readers.map(({ node }) => partsOf(node).length));
  let groups = grouped(readers, deepest);
  for (let depth = deepest - 1; depth > 0 && groups.length > most; depth--) groups = grouped(readers, depth);
  const sorted = groups.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  if (sorted.length <= most) return sorted;
  const rest = sorted.slice(most - 1);
  const sum = (of: (group: WeightGroup) => number): number => rest.reduce((total, group) => total + of(group), 0);
  const others = {
    name: "all others",
    type: rest[0]!.type,
    nodes: sum((each) => each.nodes),
    bytes: sum((each) => each.bytes),
  };
  return [...sorted.slice(0, most - 1), others].sort((a, b) => b.bytes - a.bytes);
}

/** Integers of a weight are read by the conversion in front of the node that they are for. */
export function readersOfConversions({ ops, reads }: GraphFacts): (at: number) => number {
  const first = new Map<number, number>();
  for (const [reader, from] of reads.entries()) {
    for (const source of from) if (!first.has(source)) first.set(source, reader);
  }
  return (at) => {
    let found = at;
    while (ops[found] === "DequantizeLinear" && first.has(found)) found = first.get(found)!;
    return found;
  };
}

function grouped(readers: readonly { node: string; type: string; bytes: number }[], depth: number): WeightGroup[] {
  const groups = new Map<string, WeightGroup>();
  for (const { node, type, bytes } of readers) {
    const name = partsOf(node).slice(0, depth).join("/") || node;
    const key = JSON.stringify([name, type]);
    const group = groups.get(key) ?? { name, type, nodes: 0, bytes: 0 };
    groups.set(key, { ...group, nodes: group.nodes + 1, bytes: group.bytes + bytes });
  }
  return [...groups.values()];
}

const partsOf = (name: string): string[] => name.split("/").filter((part) => part !== "");
