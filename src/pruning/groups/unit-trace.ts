/**
 * What is known of a graph's channels while it is walked in execution order: the units
 * of every value, and of every constant that lies beside them. Values without units have
 * a size that never changes.
 */
import { bitsOf, type Model, type Node, type Value } from "../../ir/index.js";
import { type Block, blockAt, fixedAlong, rowOf } from "./block.js";
import { UnitSets } from "./unit-sets.js";

export type Role = "producer" | "consumer" | "follower";

/** The units of a constant input of a node. */
export interface ConstantUnits {
  readonly node: Node;
  readonly input: number;
  readonly role: Role;
  readonly blocks: readonly Block[];
  /** Of a consumer: its activations and the axis that is contracted. */
  readonly data: number;
  readonly dataAxis: number;
}

/** Follows the units through a node; a reason why it cannot, which freezes all that the node reads. */
export type Rule = (node: Node, trace: UnitTrace) => string | null;

export class UnitTrace {
  readonly sets = new UnitSets();
  readonly units = new Map<Value, readonly Block[]>();
  readonly constants: ConstantUnits[] = [];

  /** Axes of values along which nothing can be removed, whatever else their block lies along. */
  readonly forbidden = new Map<Value, Map<number, string>>();

  constructor(readonly model: Model) {}

  of(value: Value | null | undefined): readonly Block[] {
    return (value && this.units.get(value)) ?? [];
  }

  /** The blocks of an output; one position alone is nothing that could be removed. */
  give(value: Value | null | undefined, blocks: readonly (Block | null)[]): void {
    if (!value) return;
    const present: Block[] = [];
    for (const block of blocks) {
      if (!block) continue;
      if (block.ids.length > 1) present.push(block);
      else this.sets.freezeAll(block.ids, `${value.label} has only one of them`);
    }
    if (present.length > 0) this.units.set(value, present);
  }

  /** Whether a constant can be cut into positions; its elements have whole bytes. */
  isCuttable(value: Value | null | undefined): boolean {
    const tensor = value?.constant;
    return !!tensor && tensor.dtype !== "string" && bitsOf(tensor.dtype) >= 8;
  }

  note(node: Node, input: number, role: "producer" | "follower", blocks: readonly Block[]): void {
    this.constants.push({ node, input, role, blocks, data: -1, dataAxis: -1 });
  }

  noteConsumer(node: Node, input: number, axis: number, ids: Int32Array, data: number, dataAxis: number): void {
    this.constants.push({ node, input, role: "consumer", blocks: [rowOf(axis, ids)], data, dataAxis });
  }

  /** All that is left of `blocks` once some of their axes keep their size. */
  fix(blocks: readonly Block[], axes: readonly number[], reason: string): Block[] {
    return blocks.flatMap((block) => {
      let left: Block | null = block;
      for (const axis of block.axes) {
        if (left && axes.includes(axis)) left = fixedAlong(left, axis, this.sets, reason);
      }
      return left ? [left] : [];
    });
  }

  /** The units along one axis alone, null when there are none; along other axes of their block all or nothing goes. */
  rowAt(blocks: readonly Block[], axis: number, reason: string): Int32Array | null {
    const block = blockAt(blocks, axis);
    if (!block) return null;
    const others = block.axes.filter((each) => each !== axis);
    return this.fix([block], others, reason)[0]?.ids ?? null;
  }

  forbid(value: Value, axis: number, reason: string): void {
    const axes = this.forbidden.get(value) ?? new Map<number, string>();
    this.forbidden.set(value, axes.set(axis, reason));
  }

  freezeValue(value: Value | null | undefined, reason: string): void {
    for (const { ids } of this.of(value)) this.sets.freezeAll(ids, reason);
  }
}
