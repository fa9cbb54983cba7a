/**
 * Which nodes of two graphs belong together: "these 7 became this 1". Where the rewrites told what each node stands for, by
 * that; else nodes belong together that make the same tensor.
 */
import { type Model, type Node, nodesWithin } from "../../ir/index.js";
import type { ProvenanceFacts } from "../prepare/provenance.js";
import { leading, namedTensors } from "../profile/match-nodes.js";

export interface Parts {
  /** A number above 0 for nodes of both graphs that belong together, 0 for a node that has no counterpart. */
  readonly before: (node: Node) => number;
  readonly after: (node: Node) => number;
}

/** @param provenance of the nodes of `after`, as names in `before`; null where nobody followed them */
export const partsOf = (before: Model, after: Model, provenance: readonly ProvenanceFacts[] | null): Parts =>
  provenance === null ? byTensors(before, after) : byOrigin(before, after, provenance);

function byTensors(before: Model, after: Model): Parts {
  const [oldTensor, newTensor] = [namedTensors(before), namedTensors(after)];
  const [old, now] = [made(before, oldTensor), made(after, newTensor)];
  const numbers = new Map([...old].filter((name) => now.has(name)).map((name, i) => [name, i + 1]));
  const partIn = (tensorOf: typeof oldTensor): ((node: Node) => number) => {
    const leadsTo = leading((label) => {
      const name = tensorOf(label);
      return name !== null && numbers.has(name) ? name : null;
    });
    // What is in front of no tensor of both is one part, 0.
    return (node) => numbers.get(leadsTo(node) ?? "") ?? 0;
  };
  return { before: partIn(oldTensor), after: partIn(newTensor) };
}

const made = ({ graph }: Model, tensorOf: (label: string) => string | null): Set<string> =>
  new Set(
    [...graph.nodes()].flatMap((node) => node.outputs.flatMap((value) => (value && tensorOf(value.label)) ?? [])),
  );

/**
 * One part for each node that stands for something. What two of them share, such as a mask that all layers read, does not
 * make them one: only where most of what both stand for is the same, or nothing is left to one of them, were they made of one thing.
 */
function byOrigin(before: Model, after: Model, provenance: readonly ProvenanceFacts[]): Parts {
  const origins = new Map(provenance.map(({ node, from }) => [node, from]));
  const old = new Map<string, Node>();
  for (const node of before.graph.nodes()) {
    for (const body of node.bodies) for (const inner of nodesWithin(body)) old.set(inner.displayName, node);
    old.set(node.displayName, node);
  }
  const numbers = new Map<Node, number>();
  const sizes: number[] = [0];
  const known = new Map<string, number>();
  const made = [...after.graph.nodes()].map((node) => {
    const named = origins.get(node.displayName) ?? [node.displayName];
    return { node, from: [...new Set(named.flatMap((name) => old.get(name) ?? []))] };
  });
  // What stands for the least knows best: what all layers share can stand for nodes of each of them.
  const bySize = made.filter(({ from }) => from.length > 0).sort((a, b) => a.from.length - b.from.length);
  for (const { node, from } of bySize) {
    const shared = new Map<number, number>();
    for (const source of from) {
      const part = numbers.get(source);
      if (part !== undefined) shared.set(part, (shared.get(part) ?? 0) + 1);
    }
    const [most] = [...shared].sort((a, b) => b[1] - a[1]);
    const isLeft = from.some((source) => !numbers.has(source));
    const isSame = most !== undefined && (!isLeft || 2 * most[1] > Math.max(from.length, sizes[most[0]]!));
    const part = isSame ? most[0] : sizes.push(0) - 1;
    sizes[part] = Math.max(sizes[part]!, from.length);
    numbers.set(node, part);
    for (const source of from) if (!numbers.has(source)) numbers.set(source, part);
    for (const output of node.outputs) if (output) known.set(output.label, part);
  }
  // What quantization put in, say: it belongs to the next node that stands for something.
  const leadsTo = leading((label) => (known.has(label) ? label : null));
  for (const { node, from } of made) {
    if (from.length === 0) numbers.set(node, known.get(leadsTo(node) ?? "") ?? 0);
  }
  const inOrder = new Map([0, ...made.map(({ node }) => numbers.get(node)!)].map((part) => [part, 0]));
  for (const [i, part] of [...inOrder.keys()].entries()) inOrder.set(part, i);
  const part = (node: Node): number => inOrder.get(numbers.get(node) ?? 0)!;
  return { before: part, after: part };
}
