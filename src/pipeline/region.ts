/** The part of a graph that lies between two places: nodes on any path, bodies included. */
import { type Graph, type Node, nodesWithin, type Value } from "../ir/index.js";

/** Nodes that can be reached from one of `from` and that reach one of `to`, both ends included; in execution order. */
export function nodesBetween(graph: Graph, from: readonly Node[], to: readonly Node[]): readonly Node[] {
  const forward = new Map<Node, Node[]>();
  const backward = new Map<Node, Node[]>();
  const connect = (source: Node, reader: Node): void => {
    push(forward, source, reader);
    push(backward, reader, source);
  };
  for (const node of nodesWithin(graph)) {
    for (const input of node.inputs) for (const source of sourcesOf(input)) connect(source, node);
    // What a body gives back is what its owner gives.
    for (const body of node.bodies) {
      for (const { value } of body.outputs)
        for (const source of sourcesOf(value)) if (source !== node) connect(source, node);
    }
  }
  const reached = reach(from, forward);
  const reaching = reach(to, backward);
  return [...nodesWithin(graph)].filter((node) => reached.has(node) && reaching.has(node));
}

/** The nodes that a value comes from: its producer, or whatever its body's owner was fed. */
function sourcesOf(value: Value | null): readonly Node[] {
  if (!value) return [];
  if (value.producer) return [value.producer];
  const owner = value.isGraphInput ? value.graph.owner : null;
  return owner ? owner.inputs.flatMap(sourcesOf) : [];
}

function reach(starts: readonly Node[], edges: ReadonlyMap<Node, readonly Node[]>): ReadonlySet<Node> {
  const seen = new Set(starts);
  const waiting = [...starts];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    for (const next of edges.get(node) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return seen;
}

function push(map: Map<Node, Node[]>, key: Node, value: Node): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
