/** Takes nodes out of bodies. */
import type { Node } from "../../ir/index.js";
import { Captures, copyConstant, copyNode, removeWithFeeders } from "../../rewrite/index.js";

/**
 * Moves a node of a body in front of the node that owns the body; `twins` of other bodies
 * that do the same go with it. It reads constants and values that are seen there.
 */
export function moveOut(node: Node, owner: Node, twins: readonly Node[] = []): void {
  const values = new Captures();
  for (const input of node.inputs) {
    if (input?.constant && input.graph === node.graph) values.set(input, copyConstant(input, owner.graph, true));
  }
  const copy = copyNode(node, owner.graph, values, { before: owner, keepTypes: true });
  for (const each of [node, ...twins]) {
    each.outputs.forEach((output, i) => {
      if (output) each.graph.replaceUses(output, copy.outputs[i]!);
    });
    removeWithFeeders(each);
  }
}
