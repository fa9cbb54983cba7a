/**
 * The nodes of a graph by their operators. Most passes find no node that they would look at: that is to cost no walk
 * over the graph, since there are a hundred passes and several rounds of them.
 */
import { type Graph, type Node, nodesWithin } from "../ir/index.js";

interface Known {
  readonly nodes: readonly Node[];
  /** Where in `nodes` the nodes of an operator are. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

export class RootIndex {
  #known: Known | null = null;

  constructor(readonly graph: Graph) {}

  /** Nodes of these operators, bodies included, in execution order; `*` stands for every operator. */
  nodesOf(opNames: readonly string[]): readonly Node[] {
    const { nodes, places } = (this.#known ??= read(this.graph));
    if (opNames.includes("*")) return nodes;
    const found = [...new Set(opNames)].flatMap((name) => places.get(name) ?? []);
    if (opNames.length > 1) found.sort((a, b) => a - b);
    return found.map((place) => nodes[place]!);
  }

  /** To be called when nodes have come or gone. */
  forget(): void {
    this.#known = null;
  }
}

function read(graph: Graph): Known {
  const nodes = [...nodesWithin(graph)];
  const places = new Map<string, number[]>();
  for (const [place, { opName }] of nodes.entries()) {
    const those = places.get(opName);
    if (those) those.push(place);
    else places.set(opName, [place]);
  }
  return { nodes, places };
}
