/** Operators that put positions together or choose among them. */
import { elementCount, fromFront, type Node } from "../../../ir/index.js";
import { constantIntegers, isKnown } from "../../../rewrite/match.js";
import { type Block, blockAt, dropped, picked, rowOf, sameAxes, stacked } from "../block.js";
import { alignedOperand, broadcastUnits } from "../broadcast.js";
import type { Rule, UnitTrace } from "../unit-trace.js";

const rangeOf = (start: number, end: number): number[] => Array.from({ length: end - start }, (_, i) => start + i);

/** Units of the axis lie behind one another; those of other axes go together. */
export const concat: Rule = (node, trace) => {
  const rank = node.output.shape?.length;
  const sizes = node.inputs.map((value) => value?.shape);
  if (rank === undefined || sizes.some((shape) => shape?.length !== rank))
    return `the shapes that ${node.displayName} joins are not known`;
  const axis = fromFront(node.int("axis", 0), rank);
  const along = node.inputs.map((value) => blockAt(trace.of(value), axis));
  const beside = node.inputs.map((_, input) => {
    const operand = alignedOperand(node, input, rank, trace)!;
    return { ...operand, blocks: operand.blocks.filter((block) => !block.axes.includes(axis)) };
  });
  const row = along.some((block) => block) ? joined(node, trace, along, axis) : null;
  if (typeof row === "string") return row;
  const others = broadcastUnits(node, beside, trace);
  if (row && others.some(({ axes }) => axes.some((each) => row.axes.includes(each))))
    return `${node.displayName} joins what is divided in different ways`;
  trace.give(node.output, row ? [...others, row] : others);
  return null;
};

function joined(node: Node, trace: UnitTrace, along: readonly (Block | null)[], axis: number): Block | string {
  const first = along.find((block) => block)!;
  const isAlike = along.every((block) => !block || (sameAxes(block, first) && hasSameRest(block, first, axis)));
  const why = `${node.displayName} joins it with something else`;
  const blocks = along.map((block) =>
    block && !isAlike
      ? trace.fix(
          [block],
          block.axes.filter((each) => each !== axis),
          why,
        )[0]!
      : block,
  );
  const pattern = blocks.find((block) => block)!;
  const at = pattern.axes.indexOf(axis);
  const parts: Block[] = [];
  for (const [i, block] of blocks.entries()) {
    const value = node.inputs[i]!;
    const size = value.shape![axis];
    if (block) parts.push(block);
    else if (!isKnown(size)) return `the size of ${value.label} is not known`;
    else {
      const dims = pattern.dims.with(at, size);
      const reason = value.isGraphInput ? `${value.label} is the model's input` : `${value.label} keeps its size`;
      parts.push({ axes: pattern.axes, dims, ids: trace.sets.addFrozen(elementCount(dims), reason) });
    }
  }
  return stacked(parts, axis);
}

const hasSameRest = (a: Block, b: Block, axis: number): boolean =>
  a.axes.every((each, i) => each === axis || a.dims[i] === b.dims[i]);

/** Where the parts of a Split start and end; null where that is not known. */
export function splitRanges(node: Node, size: number): (readonly [start: number, end: number])[] | null {
  const given = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("split");
  if (!given && node.inputs[1]) return null;
  const count = node.outputs.length;
  const chunk = Math.ceil(size / node.int("num_outputs", count));
  const lengths = given ?? rangeOf(0, count).map((i) => Math.max(0, Math.min(chunk, size - i * chunk)));
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b, 0));
  if (ends.at(-1) !== size || lengths.length < count) return null;
  return lengths.map((length, i) => [ends[i]! - length, ends[i]!] as const);
}

export const split: Rule = (node, trace) => {
  const value = node.inputs[0];
  const rank = value?.shape?.length;
  if (!value || rank === undefined) return `the shape that ${node.displayName} divides is not known`;
  const axis = fromFront(node.int("axis", 0), rank);
  const blocks = trace.of(value);
  const own = blockAt(blocks, axis);
  const others = blocks.filter((block) => block !== own);
  const ranges = own && splitRanges(node, own.dims[own.axes.indexOf(axis)]!);
  if (own && !ranges) return `the parts of ${node.displayName} are not known`;
  node.outputs.forEach((output, i) => {
    const part = own && picked(own, axis, rangeOf(...ranges![i]!));
    trace.give(output, part ? [...others, part] : others);
  });
  return null;
};

export interface SliceRange {
  readonly axis: number;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** What a Slice takes of axes whose size is known; null where it is computed. */
export function sliceRanges(node: Node, sizeAt: (axis: number) => number | null, rank: number): SliceRange[] | null {
  const given = (input: number, name: string): readonly number[] | null =>
    node.inputs[input] ? (node.inputs[input].constant?.bigints()?.map(Number) ?? null) : node.ints(name);
  const [starts, ends] = [given(1, "starts"), given(2, "ends")];
  const axes = node.inputs[3] || node.attributes.has("axes") ? given(3, "axes") : rangeOf(0, starts?.length ?? 0);
  const steps = node.inputs[4] ? given(4, "steps") : starts?.map(() => 1);
  if (!starts || !ends || !axes || !steps) return null;
  return axes.map((each, i) => {
    const axis = fromFront(each, rank);
    const size = sizeAt(axis) ?? 0;
    const clamp = (position: number): number => Math.min(size, Math.max(0, fromFront(position, size)));
    return { axis, start: clamp(starts[i]!), end: clamp(ends[i]!), step: steps[i]! };
  });
}

export const slice: Rule = (node, trace) => {
  const value = node.inputs[0];
  const rank = value?.shape?.length;
  const blocks = trace.of(value);
  if (blocks.length === 0) return null;
  if (rank === undefined) return `the shape that ${node.displayName} cuts is not known`;
  const sizeAt = (axis: number): number | null =>
    isKnown(value!.shape![axis]) ? (value!.shape![axis] as number) : null;
  const ranges = sliceRanges(node, sizeAt, rank);
  if (!ranges) return `what ${node.displayName} takes is computed`;
  const result: Block[] = [];
  for (const block of blocks) {
    let left = block;
    for (const { axis, start, end, step } of ranges.filter((each) => block.axes.includes(each.axis))) {
      if (step !== 1 || end <= start) return `${node.displayName} takes steps`;
      left = picked(left, axis, rangeOf(start, end));
    }
    result.push(left);
  }
  trace.give(node.output, result);
  return null;
};

/** Positions by a constant list, or rows of a table by numbers of the run. */
export const gather: Rule = (node, trace) => {
  const [data, indices] = node.inputs;
  const [rank, places] = [data?.shape?.length, indices?.shape?.length];
  if (!data || !indices || rank === undefined || places === undefined)
    return `the shapes that ${node.displayName} reads are not known`;
  if (trace.of(indices).length > 0) return `${node.displayName} counts with it`;
  const axis = fromFront(node.int("axis", 0), rank);
  if (data.constant) return lookUp(node, trace, axis, places);
  const blocks = trace.of(data);
  const moved = (block: Block): Block => ({
    ...block,
    axes: block.axes.map((each) => (each > axis ? each - 1 + places : each)),
  });
  const own = blockAt(blocks, axis);
  const others = blocks.filter((block) => block !== own).map(moved);
  if (!own) {
    trace.give(node.output, others);
    return null;
  }
  const size = own.dims[own.axes.indexOf(axis)]!;
  const positions = constantIntegers(indices)?.map((index) => fromFront(index, size));
  if (!positions || places > 1 || positions.some((each) => each < 0 || each >= size))
    return `what ${node.displayName} takes is computed`;
  const chosen = picked(own, axis, positions);
  if (places === 1) {
    trace.give(node.output, [...others, chosen]);
    return null;
  }
  if (own.axes.length === 1) {
    trace.sets.freezeAll(chosen.ids, `${node.displayName} takes it alone`);
    trace.give(node.output, others);
    return null;
  }
  // One position of an axis, which has to keep its size: the rest of the block goes on.
  trace.forbid(data, axis, `${node.displayName} takes one of them`);
  trace.give(node.output, [...others, moved(dropped(chosen, axis))]);
  return null;
};

/** Rows of a table: its columns are units. */
function lookUp(node: Node, trace: UnitTrace, axis: number, places: number): string | null {
  const [data] = node.inputs;
  if (!trace.isCuttable(data) || data!.constant!.dims.length !== 2 || axis !== 0) return null;
  // Sizes and positions are tables too, of numbers that are counted with.
  if (!data!.constant!.dtype.startsWith("f") && data!.constant!.dtype !== "bf16") return null;
  const ids = trace.sets.add(data!.constant!.dims[1]!);
  trace.note(node, 0, "producer", [rowOf(1, ids)]);
  trace.give(node.output, [rowOf(places, ids)]);
  return null;
}

/** Zeros in front and behind: positions of their own, which stay. */
export const pad: Rule = (node, trace) => {
  const value = node.inputs[0];
  const rank = value?.shape?.length;
  const blocks = trace.of(value);
  if (rank === undefined) return `the shape that ${node.displayName} widens is not known`;
  const given = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("pads");
  const named = node.inputs[3] ? constantIntegers(node.inputs[3]) : rangeOf(0, rank);
  if (!given || !named) return `what ${node.displayName} adds is computed`;
  const axes = named.map((axis) => fromFront(axis, rank));
  const result = [];
  for (const block of blocks) {
    let wide = block;
    for (const axis of block.axes) {
      const entry = axes.indexOf(axis);
      const [before, after] = entry < 0 ? [0, 0] : [given[entry]!, given[entry + axes.length]!];
      if (before === 0 && after === 0) continue;
      if (before < 0 || after < 0 || node.string("mode", "constant") !== "constant")
        return `${node.displayName} widens it`;
      wide = stacked([added(wide, axis, before, node, trace), wide, added(wide, axis, after, node, trace)], axis);
    }
    result.push(wide);
  }
  trace.give(node.output, result);
  return null;
};

function added(block: Block, axis: number, count: number, node: Node, trace: UnitTrace): Block {
  const dims = block.dims.with(block.axes.indexOf(axis), count);
  const ids = trace.sets.addFrozen(elementCount(dims), `${node.displayName} adds it`);
  return { axes: block.axes, dims, ids };
}
