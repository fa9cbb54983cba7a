/**
 * Values and constants that are combined element by element, after numpy's rules: what
 * lies at the same position of the result must go together.
 */
import type { Dim, Node, Value } from "../../ir/index.js";
import { isKnown } from "../../rewrite/match.js";
import { type Block, blockAt, sameAxes } from "./block.js";
import { isSingle } from "./single-size.js";
import type { UnitTrace } from "./unit-trace.js";

export interface Operand {
  readonly value: Value;
  /** Which input of the node it is. */
  readonly input: number;
  /** The axis of the operand that runs along an axis of the result; null where it has none, and is repeated. */
  readonly axisAt: (axis: number) => number | null;
  /** By axes of the result. */
  blocks: Block[];
}

/** An operand that is aligned with the result at the last axis. */
export function alignedOperand(node: Node, input: number, rank: number, trace: UnitTrace): Operand | null {
  const value = node.inputs[input];
  const shape = value?.shape;
  if (!value || !shape || shape.length > rank) return null;
  const shift = rank - shape.length;
  return {
    value,
    input,
    axisAt: (axis) => (axis >= shift ? axis - shift : null),
    blocks: trace.of(value).map((block) => ({ ...block, axes: block.axes.map((axis) => axis + shift) })),
  };
}

const sizeAt = ({ value, axisAt }: Operand, axis: number): Dim => {
  const own = axisAt(axis);
  if (own === null) return 1;
  return value.shape?.[own] ?? (isSingle(value, own) ? 1 : null);
};

/** Joins the units of operands; returns those of the result. Constants among the operands become followers. */
export function broadcastUnits(node: Node, operands: readonly Operand[], trace: UnitTrace): Block[] {
  const constants = operands.filter(({ value }) => value.constant);
  const moving = operands.filter(({ value }) => !value.constant);
  // Each step fixes an axis of a block, so there are finitely many.
  while (
    settleSizes(node, moving, trace) ||
    settleShares(node, moving, trace) ||
    settleConstants(node, moving, constants, trace)
  );
  const result: Block[] = [];
  for (const { blocks } of moving) {
    for (const block of blocks) {
      const twin = result.find((other) => sameAxes(other, block));
      if (twin) trace.sets.joinEach(twin.ids, block.ids);
      else result.push(block);
    }
  }
  for (const constant of constants) noteConstant(node, constant, result, trace);
  return result;
}

/** Fixes an axis that another operand has in full without units there. */
function settleSizes(node: Node, operands: readonly Operand[], trace: UnitTrace): boolean {
  for (const operand of operands) {
    for (const block of operand.blocks) {
      for (const [i, axis] of block.axes.entries()) {
        const other = operands.find((each) => isInTheWay(each, axis, block.dims[i]!));
        if (!other) continue;
        const why = `${node.displayName} combines it with ${other.value.label}, ${describe(other, axis)}`;
        operand.blocks = trace.fix(operand.blocks, [axis], why);
        return true;
      }
    }
  }
  return false;
}

function isInTheWay(operand: Operand, axis: number, size: number): boolean {
  const own = sizeAt(operand, axis);
  if (own === 1) return false;
  const block = blockAt(operand.blocks, axis);
  return !block || block.dims[block.axes.indexOf(axis)] !== size;
}

const describe = (operand: Operand, axis: number): string =>
  isKnown(sizeAt(operand, axis)) ? "which keeps its size" : "whose size is not known";

/** Where blocks of two operands share some axes only, those count. */
function settleShares(node: Node, operands: readonly Operand[], trace: UnitTrace): boolean {
  const all = operands.flatMap((operand) => operand.blocks.map((block) => ({ operand, block })));
  for (const { block } of all) {
    for (const { operand, block: other } of all) {
      const shared = block.axes.filter((axis) => other.axes.includes(axis));
      if (shared.length === 0 || shared.length === other.axes.length) continue;
      const rest = other.axes.filter((axis) => !shared.includes(axis));
      operand.blocks = trace.fix(operand.blocks, rest, `${node.displayName} combines it with something else`);
      return true;
    }
  }
  return false;
}

/** A constant that lies along some axes of a block decides for the outermost. */
function settleConstants(
  node: Node,
  operands: readonly Operand[],
  constants: readonly Operand[],
  trace: UnitTrace,
): boolean {
  for (const operand of operands) {
    for (const block of operand.blocks) {
      const isSplit = constants.some((constant) => {
        const along = block.axes.filter((axis) => sizeAt(constant, axis) !== 1);
        return along.length > 0 && along.length < block.axes.length;
      });
      const isOdd = constants.some(
        (constant) =>
          block.axes.some((axis, i) => sizeAt(constant, axis) !== 1 && sizeAt(constant, axis) !== block.dims[i]) ||
          (block.axes.some((axis) => sizeAt(constant, axis) !== 1) && !trace.isCuttable(constant.value)),
      );
      if (!isSplit && !isOdd) continue;
      const axes = isOdd ? block.axes : block.axes.slice(1);
      operand.blocks = trace.fix(
        operand.blocks,
        axes,
        `${node.displayName} combines it with a constant of another size`,
      );
      return true;
    }
  }
  return false;
}

function noteConstant(node: Node, constant: Operand, result: readonly Block[], trace: UnitTrace): void {
  const along = result.filter(({ axes }) => sizeAt(constant, axes[0]!) !== 1);
  if (along.length === 0) return;
  const own = along.map((block) => ({ ...block, axes: block.axes.map((axis) => constant.axisAt(axis)!) }));
  trace.note(node, constant.input, "follower", own);
}
