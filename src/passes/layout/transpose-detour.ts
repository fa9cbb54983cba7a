/**
 * Removes Transposes that the nodes between them do not need, by letting those nodes work
 * on what is stored: exports of channels-last networks are full of them.
 *
 *   Transpose<back>(Relu(Transpose<there>(x)))  =>  Relu(x)
 *
 * Only where the number of Transposes falls and they do not move more elements than
 * before; so nothing is ever moved back. Reductions add in another order: rounding.
 */
import { attr, type Graph, graphsWithin, type Node, opsetOf, type Value } from "../../ir/index.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import {
  compose,
  inverseOf,
  isIdentity,
  isSameOrder,
  type Permutation,
  permutationOf,
  permuted,
} from "./permutation.js";
import { cheapestSide, growRegion, type Region } from "./transpose-region.js";

export const eliminateTransposeDetour = defineGraphPass({
  name: "eliminate-transpose-detour",
  summary: "Let nodes between Transposes work on the layout that is there, where that saves Transposes",
  numerics: "rounding",
  run({ model, claim, skipped }) {
    // Softmax and others had other axes before.
    if (opsetOf(model) < 13) return;
    for (const graph of graphsWithin(model.graph)) {
      const seen = new Map<Value, Permutation[]>();
      for (const [transpose, start, order] of startsOf(graph)) {
        if (!transpose.attached || seen.get(start)?.some((each) => isSameOrder(each, order))) continue;
        const region = growRegion(start, order);
        for (const [value, each] of region.orders) seen.set(value, [...(seen.get(value) ?? []), each]);
        const chosen = cheapestSide(region);
        if (!chosen) continue;
        if (movedAfter(region, chosen) > movedBefore(region)) {
          skipped(transpose.displayName, "with fewer Transposes, more elements would be moved");
          continue;
        }
        if (!claim(transpose.displayName)) continue;
        new Relayout(region, chosen).run();
      }
    }
  },
});

/** What each Transpose makes, as it reads it; and what it reads, as it makes it. */
function startsOf(graph: Graph): (readonly [Node, Value, Permutation])[] {
  return [...graph.nodes()].flatMap((node) => {
    const perm = node.is("Transpose") ? permutationOf(node) : null;
    const source = node.inputs[0];
    if (!perm || !source) return [];
    const starts: (readonly [Node, Value, Permutation])[] = [[node, node.output, perm]];
    if (source.graph === graph && !source.constant) starts.push([node, source, inverseOf(perm)]);
    return starts;
  });
}

const isReverse = (perm: Permutation | null, order: Permutation): boolean =>
  perm !== null && perm.length === order.length && isIdentity(compose(perm, order));

/** What a Transpose of a value costs; dimensions that are not known count alike. */
const sizeOf = ({ shape }: Value): number =>
  shape?.reduce<number>((size, dim) => size * (typeof dim === "number" ? dim : 64), 1) ?? 0;

/** Elements that the Transposes around a region move now. */
function movedBefore({ orders, graph }: Region): number {
  let moved = 0;
  for (const [value, order] of orders) {
    if (isIdentity(order)) continue;
    if (value.producer?.is("Transpose") && value.producer.graph === graph) moved += sizeOf(value);
    moved += sizeOf(value) * transposesOf(value, graph).length;
  }
  return moved;
}

/** And after `chosen` work on what is stored. */
function movedAfter(region: Region, chosen: ReadonlySet<Node>): number {
  let moved = 0;
  for (const [value, order] of region.orders) {
    if (isIdentity(order)) continue;
    const node = value.producer;
    const perm = node?.is("Transpose") && node.graph === region.graph ? permutationOf(node) : null;
    const isStored = node ? chosen.has(node) || isReverse(perm, inverseOf(order)) : false;
    const readers = value.uses.map((use) => {
      if (use.kind === "output" || use.node.graph !== region.graph) return "as it is";
      if (use.node.is("Transpose")) return isReverse(permutationOf(use.node), order) ? "stored" : "either";
      return chosen.has(use.node) && region.forms.get(use.node)!.inputs[use.index] ? "stored" : "as it is";
    });
    if (perm && !isStored) moved += sizeOf(value);
    if (readers.includes(isStored ? "as it is" : "stored")) moved += sizeOf(value);
    moved += sizeOf(value) * readers.filter((reader) => reader === "either").length;
  }
  return moved;
}

const transposesOf = (value: Value, graph: Graph): Node[] =>
  value.uses.flatMap((use) =>
    use.kind === "input" && use.node.graph === graph && use.node.is("Transpose") ? [use.node] : [],
  );

/** Puts the permuted forms of the chosen nodes in their places. */
class Relayout {
  readonly #stored = new Map<Value, Value>();

  constructor(
    readonly region: Region,
    readonly chosen: ReadonlySet<Node>,
  ) {}

  run(): void {
    const nodes = [...this.region.graph.nodes()].filter((node) => this.chosen.has(node));
    for (const node of nodes) this.#rebuild(node);
    // Readers before what they read: then only readers outside are left.
    for (const node of nodes.reverse()) this.#replace(node);
  }

  #rebuild(node: Node): void {
    const { graph, orders, forms } = this.region;
    const form = forms.get(node)!;
    const count = Math.max(node.inputs.length, ...[...form.constants.keys()].map((index) => index + 1));
    const inputs = Array.from({ length: count }, (_, i) => {
      const value = node.inputs[i] ?? null;
      const tensor = form.constants.get(i)?.();
      if (tensor) return graph.addConstant(value?.label ?? `${node.output.label}/axes`, tensor);
      return value && form.inputs[i] ? this.#storedOf(value, node) : value;
    });
    const made = graph.addNode(
      {
        op: node.op,
        name: node.name,
        inputs,
        attributes: new Map([...node.attributes, ...Object.entries(form.attributes)]),
        outputs: node.outputs.map((output) => ({ label: output!.label, type: this.#storedType(output!) })),
        provenance: node.provenance,
      },
      node,
    );
    made.extras = node.extras;
    node.outputs.forEach((output, i) => void this.#stored.set(output!, made.outputs[i]!));
    for (const output of node.outputs) if (orders.has(output!)) made.outputs[node.outputs.indexOf(output)]!.info = null;
  }

  #storedType(value: Value): Value["type"] {
    const order = this.region.orders.get(value)!;
    return value.type && { dtype: value.type.dtype, shape: value.shape && permuted(value.shape, inverseOf(order)) };
  }

  /** What stands behind a value, made by a Transpose when nothing does. */
  #storedOf(value: Value, reader: Node): Value {
    const held = this.#stored.get(value);
    if (held) return held;
    const back = inverseOf(this.region.orders.get(value)!);
    const stored = isIdentity(back) ? value : transposed(value, back, reader);
    this.#stored.set(value, stored);
    return stored;
  }

  /** Readers outside get what they read from what is stored now. */
  #replace(node: Node): void {
    const { graph, orders } = this.region;
    for (const output of node.outputs) {
      const stored = this.#stored.get(output!)!;
      const order = orders.get(output!)!;
      for (const reader of transposesOf(output!, graph)) {
        const perm = permutationOf(reader);
        if (!perm) continue;
        const total = compose(order, perm);
        const result = isIdentity(total) ? stored : transposed(stored, total, reader);
        standIn(reader.output, result);
        graph.removeNode(reader);
      }
      if (output!.useCount === 0) continue;
      standIn(output!, isIdentity(order) ? stored : transposed(stored, order, node));
    }
    removeWithFeeders(node);
  }
}

/** Transpose<perm>(value), directly before a node; a Transpose that makes the value is made one with it. */
function transposed(value: Value, perm: Permutation, before: Node): Value {
  const first = value.producer;
  const inner = first?.is("Transpose") && first.graph === before.graph ? permutationOf(first) : null;
  if (first && inner && inner.length === perm.length) {
    const total = compose(inner, perm);
    return isIdentity(total) ? first.inputs[0]! : transposed(first.inputs[0]!, total, before);
  }
  const { shape, type } = value;
  const node = before.graph.addNode(
    {
      op: "Transpose",
      inputs: [value],
      attributes: { perm: attr.ints(perm) },
      outputs: [
        { label: `${value.label}/Transpose`, type: type && { ...type, shape: shape && permuted(shape, perm) } },
      ],
      provenance: before.provenance,
    },
    before,
  );
  return node.output;
}

function standIn(old: Value, result: Value): void {
  const isPort = old.isGraphOutput;
  if (!result.isGraphInput && !result.constant) {
    // What the model declares about its outputs is public.
    if (isPort) {
      result.type = old.type ?? result.type;
      result.info = old.info;
      result.label = old.label;
    } else result.type ??= old.type;
  }
  result.graph.replaceUses(old, result);
}
