/**
 * Which nodes of two graphs belong together: "these 7 became this 1". Where the rewrites told what each node stands for, by
 * that; else nodes belong together that make the same tensor.
 */
import { type Model, type Node, nodesWithin } from "../ir/index.js";
import { leading, namedTensors } from "./profile/match-nodes.js";
import type { ProvenanceFacts } from "./provenance.js";

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

/** A node that stands for several joins them; several that stand for the same one are joined by it. */
function byOrigin(before: Model, after: Model, provenance: readonly ProvenanceFacts[]): Parts {
  const origins = new Map(provenance.map(({ node, from }) => [node, from]));
  const old = new Map<string, Node>();
  for (const node of before.graph.nodes()) {
    for (const body of node.bodies) for (const inner of nodesWithin(body)) old.set(inner.displayName, node);
    old.set(node.displayName, node);
  }
  const groups = new Groups<Node>();
  const known = new Map<string, Node>();
  const others: Node[] = [];
  for (const node of after.graph.nodes()) {
    const from = (origins.get(node.displayName) ?? [node.displayName]).flatMap((name) => old.get(name) ?? []);
    for (const source of from) groups.join(source, node);
    if (from.length === 0) others.push(node);
    else for (const output of node.outputs) if (output) known.set(output.label, node);
  }
  // What quantization put in, say: it belongs to the next node that stands for something.
  const leadsTo = leading((label) => (known.has(label) ? label : null));
  for (const node of others) {
    const next = leadsTo(node);
    if (next !== null) groups.join(known.get(next)!, node);
  }
  const numbers = new Map<Node, number>();
  for (const node of after.graph.nodes()) {
    const group = groups.of(node);
    if (groups.isAlone(node)) continue;
    if (!numbers.has(group)) numbers.set(group, numbers.size + 1);
  }
  const part = (node: Node): number => numbers.get(groups.of(node)) ?? 0;
  return { before: part, after: part };
}

/** Disjoint sets (Galler and Fischer, 1964), with halved paths. */
class Groups<T> {
  readonly #above = new Map<T, T>();
  readonly #joined = new Set<T>();

  of(item: T): T {
    let at = item;
    for (let above = this.#above.get(at); above !== undefined; above = this.#above.get(at)) {
      const further = this.#above.get(above);
      if (further !== undefined) this.#above.set(at, further);
      at = above;
    }
    return at;
  }

  join(one: T, other: T): void {
    const [a, b] = [this.of(one), this.of(other)];
    if (a !== b) this.#above.set(a, b);
    this.#joined.add(one).add(other);
  }

  isAlone(item: T): boolean {
    return !this.#joined.has(item);
  }
}
