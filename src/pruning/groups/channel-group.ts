/**
 * Channels that can only be removed together. Every position along an axis of a value or
 * of a constant belongs to a unit; a group is a row of units that occur in the same places,
 * so any subset of them may be kept:
 *
 *   Conv(x, W[64, ...], b[64]) -> Relu -> Conv(., V[128, 64, ...])
 *
 * is one group of 64 units: W and b make them along axis 0, V reads them along axis 1.
 */
import type { Model, Node, Value } from "../../ir/index.js";

/** The sets of positions that go together along one axis of a value or of a constant: one at each position. */
export interface UnitRow {
  readonly axis: number;
  readonly sets: Int32Array;
}

/**
 * What a unit is, for people:
 * - `channels`: of convolutions
 * - `units`: of matrix products, such as the hidden units of a feed-forward layer
 * - `heads`: of attention
 * - `embedding`: columns of a table that is looked up
 */
export type GroupKind = "channels" | "units" | "heads" | "embedding";

/** A constant input of a node that has the units of a group along one of its axes. */
export interface GroupMember {
  readonly node: Node;
  /** Which input of the node the constant is. */
  readonly input: number;
  /** Of the constant, counted from the front. */
  readonly axis: number;
  /**
   * The unit of the group at each position along that axis; -1 where the position belongs to another
   * group. A unit may have many positions: a Gemm behind a Flatten has height times width of them.
   */
  readonly units: Int32Array;
}

/** A product whose weights contract the units away: what is removed is missing from its sums. */
export interface GroupConsumer extends GroupMember {
  /** Which input of the node the activations are, and the axis of them that runs along `units`. */
  readonly data: number;
  readonly dataAxis: number;
}

export interface ChannelGroup {
  /** Of the first node that makes the units; unique in the model, the same in every run. */
  readonly name: string;
  readonly kind: GroupKind;
  /** Number of units. */
  readonly width: number;
  /** Positions per unit where it has the fewest of a product's outputs: the head size of heads, 1 for plain channels. */
  readonly unitSize: number;
  /** The first products (or tables) whose output has the units, by their weights and the axis of the weights; depthwise and grouped ones among them. */
  readonly producers: readonly GroupMember[];
  /** The products that read the units and mix them. */
  readonly consumers: readonly GroupConsumer[];
  /** Constants that lie along the units beside them: biases, scales, statistics, slopes. */
  readonly followers: readonly GroupMember[];
  /** Values of the graph that have the units, with the axis and the unit at each position along it. */
  readonly values: readonly { readonly value: Value; readonly axis: number; readonly units: Int32Array }[];
  /** Why none of it can be removed, with the names of nodes; null when it can. */
  readonly frozen: string | null;
}

/** The units to keep of each group, ascending; groups that are not named keep all. None only where a branch goes with them (residual-branches.ts). */
export type Kept = ReadonlyMap<ChannelGroup, ArrayLike<number>>;

/** A model with units left out, and where the parts of the original are in it. */
export interface SlicedModel {
  readonly model: Model;
  /** The node that stands for one of the main graph. */
  readonly nodeOf: ReadonlyMap<Node, Node>;
  readonly valueOf: ReadonlyMap<Value, Value>;
}

/** The groups of a model, and where their units lie in all of it, for what cuts them out. */
export interface ChannelMap {
  readonly model: Model;
  /** In the order in which they are made; frozen ones among them. */
  readonly groups: readonly ChannelGroup[];
  /** By number of the unit: the set of positions that it is. */
  readonly setsOf: ReadonlyMap<ChannelGroup, Int32Array>;
  /** The axes of a value that have units, with the set at each position. */
  readonly rows: ReadonlyMap<Value, readonly UnitRow[]>;
  readonly constants: readonly { readonly node: Node; readonly input: number; readonly row: UnitRow }[];
}
