/**
 * Decides for every block that lies along several axes along which of them its units are
 * removed. Where they differ along one axis only, it is that one; otherwise all along the shorter ones
 * go together, which may decide others in turn. In the end every value and constant loses
 * whole slabs, and stays a tensor.
 */
import type { Value } from "../../ir/index.js";
import { type Block, fixedAlong, picked } from "./block.js";
import type { UnitRow } from "./channel-group.js";
import type { UnitTrace } from "./unit-trace.js";

export function settleBlocks(trace: UnitTrace): void {
  const wide = [...trace.units].flatMap(([value, blocks]) => blocks.map((block) => ({ value, block })));
  const all: { value: Value | null; block: Block }[] = [
    ...wide,
    ...trace.constants.flatMap(({ blocks }) => blocks.map((block) => ({ value: null, block }))),
  ].filter(({ block }) => block.axes.length > 1);
  // Each change joins sets or freezes them, so there are finitely many.
  for (let changed = true; changed; ) {
    changed = false;
    for (const { value, block } of all) if (settle(block, value, trace)) changed = true;
  }
  for (const [value, axes] of trace.forbidden) {
    for (const block of trace.of(value)) {
      const row = rowOfBlock(block, trace);
      const reason = axes.get(row.axis);
      if (reason !== undefined) trace.sets.freezeAll(block.ids, reason);
    }
  }
}

/** Whether anything had to be joined. */
function settle(block: Block, value: Value | null, trace: UnitTrace): boolean {
  if (decidedAxis(block, trace) !== null) return false;
  const forbidden = value ? trace.forbidden.get(value) : undefined;
  const free = block.axes.filter((axis) => !forbidden?.has(axis));
  const sizeOf = (axis: number): number => block.dims[block.axes.indexOf(axis)]!;
  const longest = free.reduce<number | null>(
    (best, axis) => (best !== null && sizeOf(best) >= sizeOf(axis) ? best : axis),
    null,
  );
  if (longest === null) {
    trace.sets.freezeAll(block.ids, `it is divided in ways that exclude each other`);
    joinFrozen(block, trace);
    return true;
  }
  let left: Block | null = block;
  for (const axis of block.axes) if (axis !== longest && left) left = fixedAlong(left, axis, trace.sets, "");
  return true;
}

const joinFrozen = ({ ids }: Block, { sets }: UnitTrace): void => {
  for (const id of ids) sets.join(ids[0]!, id);
};

/** The axis along which alone the sets of a block differ. */
function decidedAxis(block: Block, trace: UnitTrace): number | null {
  const name = (id: number): number => (trace.sets.frozen(id) === null ? trace.sets.find(id) : -1);
  const names = { ...block, ids: block.ids.map(name) };
  const isSlab = (axis: number, position: number): boolean => {
    const { ids } = picked(names, axis, [position]);
    return ids.every((id) => id === ids[0]);
  };
  const decided = block.axes.find((axis, i) =>
    Array.from({ length: block.dims[i]! }, (_, position) => position).every((position) => isSlab(axis, position)),
  );
  return decided ?? null;
}

/** A settled block along its axis. */
export function rowOfBlock(block: Block, trace: UnitTrace): UnitRow {
  const axis = block.axes.length === 1 ? block.axes[0]! : decidedAxis(block, trace)!;
  const at = block.axes.indexOf(axis);
  const sets = Int32Array.from({ length: block.dims[at]! }, (_, position) =>
    trace.sets.find(picked(block, axis, [position]).ids[0]!),
  );
  return { axis, sets };
}
