import type { AttributeProto, GraphProto, NodeProto } from "../../onnx/index.js";
import { graphError } from "../errors.js";

/**
 * The nodes of a graph in execution order, as they stand when they already are in
 * one. ONNX demands it, but exporters and hand-made tools get it wrong, and the fix
 * is certain. `isDefined` tells the names that are there before the first node.
 * Throws GRAPH_CYCLE or GRAPH_DANGLING, naming the node.
 */
export function executionOrder(graph: GraphProto, isDefined: (name: string) => boolean): readonly NodeProto[] {
  const nodes = graph.node ?? [];
  const producer = new Map<string, number>();
  nodes.forEach((node, i) => {
    for (const name of node.output ?? []) if (name !== "" && !producer.has(name)) producer.set(name, i);
  });
  const needs = nodes.map((node) => [...new Set(namesRead(node))].filter((name) => !isDefined(name)));
  const inOrder = needs.every((names, i) => names.every((name) => (producer.get(name) ?? -1) < i));
  return inOrder ? nodes : sorted(nodes, needs, producer);
}

/** Depth first from each node in file order, so that nodes which are in order keep it. Iterative: chains can be long. */
function sorted(nodes: readonly NodeProto[], needs: string[][], producer: Map<string, number>): NodeProto[] {
  const order: NodeProto[] = [];
  const state = new Uint8Array(nodes.length); // 0 new, 1 waiting for what it reads, 2 placed
  for (let root = 0; root < nodes.length; root++) {
    const stack = [root];
    while (stack.length > 0) {
      const at = stack.at(-1)!;
      if (state[at] === 2) {
        stack.pop();
        continue;
      }
      const missing = needs[at]!.map((name) => producer.get(name)).filter((i) => i !== undefined && state[i] !== 2);
      if (missing.length === 0) {
        state[at] = 2;
        order.push(nodes[at]!);
        stack.pop();
        continue;
      }
      state[at] = 1;
      for (const next of missing as number[]) {
        if (state[next] === 1) {
          const title = nodes[next]!.name || `${nodes[next]!.op_type}:${nodes[next]!.output?.[0] ?? ""}`;
          throw graphError("GRAPH_CYCLE", `node ${title} reads, directly or not, what it produces`, {
            fields: { node: title },
          });
        }
        stack.push(next);
      }
    }
  }
  return order;
}

/** Every name that a node reads, with those that its bodies read from outside. */
function* namesRead(node: NodeProto): Generator<string> {
  for (const name of node.input ?? []) if (name !== "") yield name;
  for (const attribute of node.attribute ?? []) yield* captured(attribute);
}

function* captured(attribute: AttributeProto): Generator<string> {
  for (const body of [attribute.g, ...(attribute.graphs ?? [])]) {
    if (!body) continue;
    const own = new Set<string>();
    for (const { name } of [...(body.input ?? []), ...(body.initializer ?? [])]) own.add(name ?? "");
    for (const { values } of body.sparse_initializer ?? []) own.add(values?.name ?? "");
    for (const node of body.node ?? []) for (const name of node.output ?? []) own.add(name);
    for (const node of body.node ?? []) for (const name of namesRead(node)) if (!own.has(name)) yield name;
    for (const { name } of body.output ?? []) if (name && !own.has(name)) yield name;
  }
}
