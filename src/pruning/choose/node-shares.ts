/**
 * How much of its work each node still has when groups are narrowed: channels that it reads times channels that it makes,
 * as shares of what they were. Convolutions read and make whole blocks of channels at a time: what lies between is padded.
 * Fewer than one block they read one by one. What goes with a branch has none.
 */
import type { Node, Value } from "../../ir/index.js";
import type { ChannelGroup, ChannelMap } from "../groups/channel-group.js";
import { type ResidualBranch, residualBranches } from "../groups/residual-branches.js";
import type { Widths } from "./widths.js";

interface Row {
  readonly size: number;
  /** Positions of each group along the axis; others stay. */
  readonly of: readonly { readonly group: ChannelGroup; readonly positions: number }[];
}

export class NodeShares {
  readonly #rows = new Map<Value, readonly Row[]>();
  /** Nodes whose work depends on a group. */
  readonly nodesOf = new Map<ChannelGroup, readonly Node[]>();
  /** Groups that a branch goes without. */
  readonly branches: ReadonlyMap<ChannelGroup, ResidualBranch>;
  readonly #deadWithout = new Map<Node, ChannelGroup[]>();

  constructor(
    readonly map: ChannelMap,
    readonly block: number,
  ) {
    const rows = new Map<Value, Map<number, { size: number; of: { group: ChannelGroup; positions: number }[] }>>();
    for (const group of map.groups) {
      for (const { value, axis, units } of group.values) {
        const axes = rows.get(value) ?? new Map();
        rows.set(value, axes);
        const row = axes.get(axis) ?? { size: units.length, of: [] };
        axes.set(axis, row);
        row.of.push({ group, positions: units.filter((unit) => unit >= 0).length });
      }
    }
    for (const [value, axes] of rows) this.#rows.set(value, [...axes.values()]);
    const nodes = new Map<ChannelGroup, Set<Node>>();
    for (const node of map.model.graph.nodes()) {
      for (const value of [...node.inputs, ...node.outputs]) {
        for (const row of (value && this.#rows.get(value)) ?? []) {
          for (const { group } of row.of) nodes.set(group, (nodes.get(group) ?? new Set()).add(node));
        }
      }
    }
    this.branches = residualBranches(map);
    for (const [group, { dead }] of this.branches) {
      for (const node of dead) {
        nodes.get(group)!.add(node);
        this.#deadWithout.set(node, [...(this.#deadWithout.get(node) ?? []), group]);
      }
    }
    for (const [group, of] of nodes) this.nodesOf.set(group, [...of]);
  }

  /** Of the node's work in the original. */
  of(node: Node, widths: Widths): number {
    if (this.#deadWithout.get(node)?.some((group) => widths.get(group) === 0)) return 0;
    const isConvolution = node.op.startsWith("Conv");
    const made = this.#shareOf(node.outputs[0], widths, isConvolution ? this.#blocksMade : channels);
    const [read, weights] = node.inputs;
    const isMixing = weights && (node.is("Gemm") || node.is("MatMul") || (isConvolution && node.int("group", 1) === 1));
    if (isMixing) return made * this.#shareOf(read, widths, isConvolution ? this.#blocksRead : channels);
    return this.#rows.has(node.outputs[0]!) ? made : this.#shareOf(read, widths, channels);
  }

  // Sums of fractions may exceed a whole number by their last bits.
  readonly #blocksMade = (count: number): number => Math.ceil(count / this.block - 1e-9);
  readonly #blocksRead = (count: number): number => (count < this.block ? count / this.block : this.#blocksMade(count));

  #shareOf(value: Value | null | undefined, widths: Widths, workOf: (count: number) => number): number {
    let share = 1;
    for (const { size, of } of (value && this.#rows.get(value)) ?? []) {
      let left = size;
      for (const { group, positions } of of) left -= positions * (1 - (widths.get(group) ?? group.width) / group.width);
      share *= workOf(left) / workOf(size);
    }
    return share;
  }
}

const channels = (count: number): number => count;
