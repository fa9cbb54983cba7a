/**
 * Removes nodes whose outputs nobody reads, and constants nobody reads, in the graph
 * and in its bodies. Operators that we do not know stay: they may have been put there
 * for what they do.
 */
import { type Graph, graphsWithin, type Node } from "../../ir/index.js";
import { isRemovable } from "../../ops/facts.js";
import { defineGraphPass, type GraphPassContext } from "../../rewrite/index.js";

export const eliminateDeadCode = defineGraphPass({
  name: "eliminate-dead-code",
  summary: "Remove nodes and constants that no output depends on",
  numerics: "exact",
  run(context) {
    removeNodes(context.model.graph, context);
    for (const graph of graphsWithin(context.model.graph)) {
      for (const value of graph.constants) {
        if (value.useCount === 0 && context.claim(value.label)) graph.removeConstant(value);
      }
    }
  },
});

/** Readers before producers, bodies when their node stays. */
function removeNodes(graph: Graph, context: GraphPassContext): void {
  for (let node: Node | null = graph.lastNode; node; ) {
    const previous: Node | null = node.previous;
    const isUnread = node.outputs.every((output) => !output || output.useCount === 0);
    if (isUnread && isRemovable(node) && context.claim(node.displayName)) graph.removeNode(node);
    else for (const body of node.bodies) removeNodes(body, context);
    node = previous;
  }
}
