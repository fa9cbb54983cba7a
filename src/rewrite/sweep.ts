/** Takes out what nobody reads any more, upwards from where a reader went away. */
import type { Node, Value } from "../ir/index.js";
import { isRemovable } from "../ops/facts.js";

const isUnread = (node: Node): boolean => node.outputs.every((output) => !output || output.useCount === 0);

/**
 * Removes a node that nobody reads, whatever its operator, then everything that only it
 * kept alive: producers, constants, and what its bodies captured. Returns the nodes removed.
 */
export function removeWithFeeders(node: Node): Node[] {
  const removed: Node[] = [];
  const pending = [node];
  for (let at = pending.pop(); at; at = pending.pop()) {
    if (!at.attached || !isUnread(at)) continue;
    const read = valuesRead(at);
    at.graph.removeNode(at);
    removed.push(at);
    for (const value of read) {
      if (value.useCount > 0) continue;
      const producer = value.producer;
      if (producer?.attached && isRemovable(producer)) pending.push(producer);
      else if (value.constant || value.origin.sparse) removeUnreadConstant(value);
    }
  }
  return removed;
}

export function removeUnreadConstant(value: Value): void {
  if (value.useCount === 0 && value.graph.constants.includes(value)) value.graph.removeConstant(value);
}

/** Everything a node reads, directly and inside its bodies, that is not made inside them. */
export function valuesRead(node: Node): Set<Value> {
  const read = new Set<Value>();
  for (const input of node.inputs) if (input) read.add(input);
  for (const body of node.bodies) {
    for (const { value } of body.outputs) if (value.graph !== body) read.add(value);
    for (const inner of body.nodes()) {
      for (const value of valuesRead(inner)) if (value.graph !== body) read.add(value);
    }
  }
  return read;
}
