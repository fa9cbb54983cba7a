import type { Graph } from "./graph.js";
import type { Node } from "./node.js";
import type { Value } from "./value.js";

/** This graph and all bodies inside it, outer before inner. */
export function* graphsWithin(graph: Graph): Generator<Graph> {
  yield graph;
  for (const node of graph.nodes()) for (const body of node.bodies) yield* graphsWithin(body);
}

/** Every node of the graph and of its bodies; safe under edits of the graph that is being walked. */
export function* nodesWithin(graph: Graph): Generator<Node> {
  for (const node of graph.nodes()) {
    yield node;
    if (node.attached) for (const body of node.bodies) yield* nodesWithin(body);
  }
}

export function countNodes(graph: Graph): number {
  let count = 0;
  for (const each of graphsWithin(graph)) count += each.nodeCount;
  return count;
}

/** The sole reader of a value when that is a node of the same graph; null otherwise. */
export function soleReader(value: Value): Node | null {
  if (value.useCount !== 1) return null;
  const use = value.uses[0]!;
  return use.kind === "input" && use.node.graph === value.graph ? use.node : null;
}
