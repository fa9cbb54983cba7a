import type { Node, Value } from "../../ir/index.js";

/** Constants above this many bytes tie their readers together: they are freed only when all readers fold. */
const LARGE_BYTES = 1024;

/** Splits nodes into groups that feed each other or share a large constant, each in the order given. */
export function groupByKinship(nodes: readonly Node[]): Set<Node>[] {
  const leader = new Map<Node, Node>(nodes.map((node) => [node, node]));
  const find = (node: Node): Node => {
    let at = node;
    while (leader.get(at) !== at) at = leader.get(at)!;
    leader.set(node, at);
    return at;
  };
  const firstReader = new Map<Value, Node>();
  for (const node of nodes) {
    for (const input of node.inputs) {
      if (!input) continue;
      const isLarge = input.constant && input.constant.byteLength > LARGE_BYTES;
      const kin = isLarge ? firstReader.get(input) : input.producer;
      if (isLarge && !kin) firstReader.set(input, node);
      if (kin && leader.has(kin)) leader.set(find(node), find(kin));
    }
  }
  const groups = new Map<Node, Set<Node>>();
  for (const node of nodes) {
    const group = groups.get(find(node)) ?? new Set();
    groups.set(find(node), group.add(node));
  }
  return [...groups.values()];
}
