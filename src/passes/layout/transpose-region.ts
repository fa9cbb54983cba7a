/**
 * Nodes around a Transpose that could as well work on what the Transpose reads, and the
 * choice of those that should:
 *
 *   x -> Transpose -> Relu -> Concat -> Transpose back -> y   needs two
 *   x -> Relu -> Concat -> y                                  needs none
 *
 * A region is everything that can be reached from a Transpose through operators with a
 * permuted form. Each of its nodes works on values as they are or as they are stored
 * (see permute-node.ts); a Transpose is needed for each value that one side makes and the
 * other reads. A minimum cut between the sides therefore is the best choice.
 */
import type { Graph, Node, Value } from "../../ir/index.js";
import { Network } from "./minimum-cut.js";
import { compose, isIdentity, isSameOrder, type Permutation, permutationOf } from "./permutation.js";
import { permutedForm, permutedFormFor } from "./permute-node.js";
import type { PermutedForm } from "./permuted-form.js";

export interface Region {
  readonly graph: Graph;
  /** The order in which each value of the region would be stored. */
  readonly orders: ReadonlyMap<Value, Permutation>;
  readonly forms: ReadonlyMap<Node, PermutedForm>;
}

const MAX_NODES = 4096;

/** Everything that hangs together with a value, if it were stored in `order`. */
export function growRegion(start: Value, order: Permutation): Region {
  const { graph } = start;
  const orders = new Map<Value, Permutation>([[start, order]]);
  const forms = new Map<Node, PermutedForm>();
  const pending: Value[] = [start];

  const include = (node: Node | null, from: Value): void => {
    if (!node || node.graph !== graph || node.is("Transpose") || forms.has(node) || forms.size >= MAX_NODES) return;
    const form = (node === from.producer ? permutedFormFor : permutedForm)(node, orders.get(from)!);
    if (!form) return;
    const ordered: [Value, Permutation][] = [];
    form.inputs.forEach((each, i) => void (each && ordered.push([node.inputs[i]!, each])));
    form.outputs.forEach((each, i) => void ordered.push([node.outputs[i]!, each]));
    if (!ordered.some(([value]) => value === from)) return;
    if (!ordered.every(([value, each]) => isSameOrder(orders.get(value) ?? each, each))) return;
    forms.set(node, form);
    for (const [value, each] of ordered) {
      if (orders.has(value)) continue;
      orders.set(value, each);
      pending.push(value);
    }
  };
  for (let value = pending.pop(); value; value = pending.pop()) {
    for (const use of value.uses) if (use.kind === "input") include(use.node, value);
    include(value.producer, value);
  }
  return { graph, orders, forms };
}

/** The nodes that should work on stored values; null when that would not save a Transpose. */
export function cheapestSide({ graph, orders, forms }: Region): ReadonlySet<Node> | null {
  if ([...orders.keys()].some((value) => countsTwice(value, orders))) return null;
  const network = new Network();
  const vertices = new Map([...forms.keys()].map((node) => [node, network.vertex()]));
  let present = 0;
  for (const [value, order] of orders) {
    if (isIdentity(order)) continue;
    const maker = makerOf(value, order, graph, vertices, network);
    const readers = readersOf(value, order, graph, forms, vertices);
    const [isMadeStored, isReadStored] = [maker === Network.SOURCE, readers.includes(Network.SOURCE)];
    if (isMadeStored ? readers.some((reader) => reader !== Network.SOURCE) : isReadStored) present++;
    // Made as it is stored and read as it is: one Transpose for all readers.
    if (maker !== Network.SINK) {
      const asItIs = network.vertex();
      network.connect(maker, asItIs, 1);
      for (const reader of readers) if (reader !== Network.SOURCE) network.connect(asItIs, reader, FOREVER);
    }
    // And the other way round.
    if (!isMadeStored) {
      const asStored = network.vertex();
      network.connect(asStored, maker, 1);
      for (const reader of readers) if (reader !== Network.SINK) network.connect(reader, asStored, FOREVER);
    }
  }
  const cut = network.cut();
  if (cut.capacity >= present) return null;
  const chosen = new Set([...vertices].flatMap(([node, vertex]) => (cut.isSource(vertex) ? [node] : [])));
  return chosen.size > 0 ? chosen : null;
}

/** A Transpose between two values of the region that would make one as it is stored and read the other so: it is its own reverse. */
function countsTwice(value: Value, orders: ReadonlyMap<Value, Permutation>): boolean {
  const node = value.producer;
  const perm = node?.is("Transpose") ? permutationOf(node) : null;
  const order = orders.get(node?.inputs[0] as Value);
  return !!perm && !!order && isSameOrder(perm, orders.get(value)!) && isIdentity(compose(order, perm));
}

const FOREVER = Number.POSITIVE_INFINITY;

/** The source makes values as they are stored, the sink as they are. */
function makerOf(
  value: Value,
  order: Permutation,
  graph: Graph,
  vertices: ReadonlyMap<Node, number>,
  network: Network,
): number {
  const node = value.producer;
  const own = node && vertices.get(node);
  if (own) return own;
  if (!node?.is("Transpose") || node.graph !== graph) return Network.SINK;
  const perm = permutationOf(node);
  // A Transpose to a third order can as well give the other one.
  return perm && isSameOrder(perm, order) ? Network.SOURCE : network.vertex();
}

function readersOf(
  value: Value,
  order: Permutation,
  graph: Graph,
  forms: ReadonlyMap<Node, PermutedForm>,
  vertices: ReadonlyMap<Node, number>,
): number[] {
  return value.uses.flatMap((use) => {
    if (use.kind === "output" || use.node.graph !== graph) return [Network.SINK];
    if (use.node.is("Transpose")) {
      const perm = permutationOf(use.node);
      if (!perm) return [Network.SINK];
      // One to a third order reads either.
      return isIdentity(compose(order, perm)) ? [Network.SOURCE] : [];
    }
    const readsStored = forms.get(use.node)?.inputs[use.index];
    return [readsStored ? vertices.get(use.node)! : Network.SINK];
  });
}
