/** The original and the pruned net side by side: which of their values are the same, and what is left of others. */
import type { Attribute, Node, Value } from "../../ir/index.js";
import type { ChannelMap, Kept, SlicedModel } from "../groups/channel-group.js";

export class NetPair {
  readonly #originalOf = new Map<Value, Value>();
  /** Values of the pruned net that nothing has been done to yet. */
  readonly #same = new Map<Value, Value>();
  readonly #nodeOf: ReadonlyMap<Node, Node>;
  readonly #keptUnits: ReadonlyMap<Value, readonly KeptAlong[]>;

  constructor(
    readonly map: ChannelMap,
    readonly sliced: SlicedModel,
    readonly kept: Kept,
    /** Nodes of the pruned net that will get other weights, though they have those of the original now. */
    readonly changing: ReadonlySet<Node> = new Set(),
  ) {
    for (const [original, pruned] of sliced.valueOf) {
      const first = this.#originalOf.get(pruned);
      if (!first || this.#isReplaced(first)) this.#originalOf.set(pruned, original);
    }
    this.#nodeOf = new Map([...sliced.nodeOf].map(([original, pruned]) => [pruned, original]));
    this.#findSame();
    const along = new Map<Value, KeptAlong[]>();
    for (const group of map.groups) {
      const units = kept.get(group);
      if (!units || units.length === group.width) continue;
      const left = new Set(Array.from(units));
      for (const { value, axis, units: at } of group.values) {
        along.set(value, [...(along.get(value) ?? []), { axis, units: at, left }]);
      }
    }
    this.#keptUnits = along;
  }

  /** The value of the original that a value of the pruned net stands for; null for one that pruning made. */
  originalOf(pruned: Value): Value | null {
    return this.#originalOf.get(pruned) ?? null;
  }

  /** The node of the original that became one of the pruned net. */
  nodeBefore(pruned: Node): Node | null {
    return this.#nodeOf.get(pruned) ?? null;
  }

  /** The value that computes the same and stands for both nets; the value itself where there is none. */
  readonly twinOf = (value: Value): Value => this.#same.get(value) ?? value;

  /** Whether an input of a node of the pruned net holds what it did in the original, to the bit. */
  readsSame(pruned: Node, index: number): boolean {
    const [value, original] = [pruned.inputs[index], this.#nodeOf.get(pruned)?.inputs[index]];
    if (!value || !original) return false;
    return value.constant !== null || this.#same.get(value) === original;
  }

  /** Positions of a value of the original along an axis that are left; null where all are. */
  keptAlong(original: Value, axis: number, size: number): Int32Array | null {
    const along = (this.#keptUnits.get(original) ?? []).filter((each) => each.axis === axis);
    if (along.length === 0) return null;
    const isLeft = (at: number): boolean => along.every(({ units, left }) => units[at]! < 0 || left.has(units[at]!));
    return Int32Array.from({ length: size }, (_, at) => at).filter(isLeft);
  }

  /** Whether all who read a value went with a branch: what stays of its sum is to be that sum then. */
  #isReplaced({ uses }: Value): boolean {
    return uses.every((use) => use.kind === "input" && !this.sliced.nodeOf.has(use.node));
  }

  #findSame(): void {
    const { graph } = this.sliced.model;
    const inputs = new Map(this.map.model.graph.inputs.map((input) => [input.label, input]));
    for (const input of graph.inputs) {
      const original = inputs.get(input.label);
      if (original) this.#same.set(input, original);
    }
    for (const node of graph.nodes()) {
      const original = this.#nodeOf.get(node);
      if (!original || this.changing.has(node) || !this.#isSameNode(node, original)) continue;
      node.outputs.forEach((value, i) => {
        const other = original.outputs[i];
        if (value && other) this.#same.set(value, other);
      });
    }
  }

  /** Nodes with bodies count as changed: what they read is not looked into. */
  #isSameNode(node: Node, original: Node): boolean {
    if (node.op !== original.op || node.bodies.length > 0) return false;
    if (node.inputs.length !== original.inputs.length || node.attributes.size !== original.attributes.size)
      return false;
    for (const [name, attribute] of node.attributes)
      if (!isSameAttribute(attribute, original.attributes.get(name))) return false;
    return node.inputs.every((value, i) => {
      const other = original.inputs[i];
      if (!value || !other) return value === (other ?? null);
      if (value.constant) return value.constant === other.constant;
      return this.#same.get(value) === other;
    });
  }
}

/** Attributes that were set anew may say what they said before. */
function isSameAttribute(a: Attribute, b: Attribute | undefined): boolean {
  if (a === b) return true;
  if (a.type === "int" || a.type === "float") return b?.type === a.type && b.value === a.value;
  if (a.type !== "ints" && a.type !== "floats") return false;
  return b?.type === a.type && String(b.value) === String(a.value);
}

interface KeptAlong {
  readonly axis: number;
  readonly units: Int32Array;
  readonly left: ReadonlySet<number>;
}
