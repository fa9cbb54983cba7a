/**
 * Matrix products contract the last axis of the left side with the last but one of the
 * right side; the other axes of both go on into the result. Weights on one side make
 * units there, and read those of the other side; two values of the run that are
 * contracted with each other keep the size of that axis.
 */
import type { Node, Value } from "../../../ir/index.js";
import { type Block, blockAt, renumbered, rowOf } from "../block.js";
import { broadcastUnits, type Operand } from "../broadcast.js";
import type { Rule, UnitTrace } from "../unit-trace.js";

interface Side {
  readonly value: Value;
  readonly input: number;
  /** The axis that is contracted and the one that goes into the result. */
  readonly contracted: number;
  readonly free: number;
}

export const matMul: Rule = (node, trace) => {
  const [a, b] = node.inputs;
  const [left, right] = [a?.shape?.length ?? 0, b?.shape?.length ?? 0];
  if (!a || !b || left < 2 || right < 2) return `the ranks of ${node.displayName} are not known, or below 2`;
  const rank = Math.max(left, right);
  const sides: [Side, Side] = [
    { value: a, input: 0, contracted: left - 1, free: left - 2 },
    { value: b, input: 1, contracted: right - 2, free: right - 1 },
  ];
  return productOf(node, trace, sides, rank);
};

export const gemm: Rule = (node, trace) => {
  const [a, b, bias] = node.inputs;
  if (!a?.shape || !b?.shape) return `the shapes that ${node.displayName} reads are not known`;
  const [transA, transB] = [node.int("transA", 0) ? 1 : 0, node.int("transB", 0) ? 1 : 0];
  const sides: [Side, Side] = [
    { value: a, input: 0, contracted: 1 - transA, free: transA },
    { value: b, input: 1, contracted: transB, free: 1 - transB },
  ];
  if (!bias) return productOf(node, trace, sides, 2);
  const problem = productOf(node, trace, sides, 2);
  if (problem) return problem;
  const made: Operand = { value: node.output, input: -1, axisAt: (axis) => axis, blocks: [...trace.of(node.output)] };
  const shift = 2 - (bias.shape?.length ?? 3);
  if (shift < 0) return `the bias of ${node.displayName} has no known shape`;
  const added: Operand = {
    value: bias,
    input: 2,
    axisAt: (axis) => (axis >= shift ? axis - shift : null),
    blocks: trace.of(bias).map((block) => ({ ...block, axes: block.axes.map((axis) => axis + shift) })),
  };
  trace.units.delete(node.output);
  trace.give(node.output, broadcastUnits(node, [made, added], trace));
  return null;
};

function productOf(node: Node, trace: UnitTrace, sides: readonly [Side, Side], rank: number): string | null {
  const [left, right] = sides;
  if (left.value.constant && right.value.constant) return null;
  const operands: Operand[] = [];
  for (const [side, other] of [sides, [right, left] as const]) {
    const blocks = contracted(node, trace, side, other);
    if (typeof blocks === "string") return blocks;
    operands.push(operandOf(side, blocks, side === left ? rank - 2 : rank - 1, rank));
  }
  const result = broadcastUnits(node, operands, trace);
  for (const side of sides) {
    if (!trace.isCuttable(side.value)) continue;
    const made = trace.sets.add(side.value.constant!.dims[side.free]!);
    trace.note(node, side.input, "producer", [rowOf(side.free, made)]);
    result.push(rowOf(side === left ? rank - 2 : rank - 1, made));
  }
  trace.give(node.output, result);
  return null;
}

/** What is left of a side's units once an axis is contracted; a reason when it cannot be followed. */
function contracted(node: Node, trace: UnitTrace, side: Side, other: Side): Block[] | string {
  const blocks = trace.of(side.value);
  const block = blockAt(blocks, side.contracted);
  if (!block) return [...blocks];
  const weight = other.value;
  if (!weight.constant) {
    trace.sets.callHeads(block.ids);
    return trace.fix(blocks, [side.contracted], `${node.displayName} contracts it with ${weight.label}`);
  }
  if (!trace.isCuttable(weight)) return `the weights of ${node.displayName} cannot be cut`;
  const ids = trace.rowAt(blocks, side.contracted, `${node.displayName} reads it`)!;
  if (weight.constant.dims[other.contracted] !== ids.length)
    return `the weights of ${node.displayName} do not fit its input`;
  trace.noteConsumer(node, other.input, other.contracted, ids, side.input, side.contracted);
  return blocks.filter((each) => each !== block);
}

/** A side as it lies in the result, where the contracted axis is gone. */
function operandOf({ value, input, free }: Side, blocks: readonly Block[], freeAt: number, rank: number): Operand {
  const shift = rank - value.shape!.length;
  const axisAt = (axis: number): number | null => {
    if (axis >= rank - 2) return axis === freeAt ? free : null;
    return axis >= shift ? axis - shift : null;
  };
  const moved = blocks.map((block) => renumbered(block, (axis) => (axis === free ? freeAt : axis + shift)));
  return { value, input, axisAt, blocks: moved };
}
