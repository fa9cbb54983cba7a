/** Operators that compute with what lies at one position, and normalizations. */
import { fromFront, type Node } from "../../../ir/index.js";
import { isInferenceDropout } from "../../../ops/facts.js";
import { givenAxes, normalizeAxes, readsOnlyFirst } from "../../../rewrite/match.js";
import { type Block, rowOf } from "../block.js";
import { alignedOperand, broadcastUnits, type Operand } from "../broadcast.js";
import type { Rule, UnitTrace } from "../unit-trace.js";

/** One value in, the same shape out; further inputs are scalars. */
export const unary: Rule = (node, trace) => {
  const others = node.inputs.slice(1);
  if (others.some((value) => value && value.shape?.length !== 0 && value.constant?.elementCount !== 1))
    return `${node.displayName} has further inputs`;
  trace.give(node.output, trace.of(node.inputs[0]));
  return null;
};

export const dropout: Rule = (node, trace) => {
  if (!isInferenceDropout(node) || !readsOnlyFirst(node)) return `${node.displayName} trains`;
  trace.give(node.output, trace.of(node.inputs[0]));
  return null;
};

export const broadcasting: Rule = (node, trace) => {
  const ranks = node.inputs.map((value) => value?.shape?.length ?? null);
  if (ranks.includes(null)) return `the shapes that ${node.displayName} combines are not known`;
  const rank = Math.max(...ranks.map((each) => each!));
  const operands = node.inputs.map((_, input) => alignedOperand(node, input, rank, trace)!);
  trace.give(node.output, broadcastUnits(node, operands, trace));
  return null;
};

/** Constants of one number per channel, which lies in axis 1. */
export const batchNormalization: Rule = (node, trace) => {
  if (node.int("training_mode", 0) !== 0 || !readsOnlyFirst(node)) return `${node.displayName} trains`;
  return perChannel(node, trace, [1, 2, 3, 4], trace.of(node.inputs[0]));
};

/** Normalizes each channel by itself, over the axes behind it. */
export const instanceNormalization: Rule = (node, trace) => {
  const blocks = trace.of(node.inputs[0]);
  const places = blocks.flatMap(({ axes }) => axes).filter((axis) => axis > 1);
  return perChannel(node, trace, [1, 2], trace.fix(blocks, places, `${node.displayName} normalizes over it`));
};

function perChannel(node: Node, trace: UnitTrace, inputs: readonly number[], blocks: readonly Block[]): string | null {
  const value = node.inputs[0];
  const rank = value?.shape?.length;
  if (!value || rank === undefined) return `the shape that ${node.displayName} reads is not known`;
  if (inputs.some((input) => node.inputs[input]?.shape?.length !== 1))
    return `${node.displayName} has parameters of another shape`;
  const data: Operand = { value, input: 0, axisAt: (axis) => axis, blocks: [...blocks] };
  const parameters = inputs.map((input): Operand => {
    const parameter = node.inputs[input]!;
    const along = trace.of(parameter).map((block) => ({ ...block, axes: [1] }));
    return { value: parameter, input, axisAt: (axis) => (axis === 1 ? 0 : null), blocks: along };
  });
  trace.give(node.output, broadcastUnits(node, [data, ...parameters], trace));
  return null;
}

/** Groups of channels that are normalized together stay together. */
export const groupNormalization: Rule = (node, trace) => {
  const groups = node.int("num_groups", 0);
  const blocks = trace.of(node.inputs[0]);
  const elsewhere = blocks.flatMap(({ axes }) => axes).filter((axis) => axis !== 1);
  const [block, ...more] = trace.fix(blocks, elsewhere, `${node.displayName} normalizes over it`);
  if (!block) return null;
  const size = block.ids.length / groups;
  if (more.length > 0 || !Number.isInteger(size)) return `${node.displayName} cannot be followed`;
  for (const [i, id] of block.ids.entries()) trace.sets.join(block.ids[i - (i % size)]!, id);
  for (const input of [1, 2]) {
    const parameter = node.inputs[input];
    const count = parameter?.constant?.elementCount;
    if (!trace.isCuttable(parameter) || (count !== block.ids.length && count !== groups))
      return `${node.displayName} has parameters of another shape`;
    // Up to opset 20 there is one number per group.
    const ids = count === block.ids.length ? block.ids : block.ids.filter((_, i) => i % size === 0);
    trace.note(node, input, "follower", [rowOf(0, ids)]);
  }
  trace.give(node.output, [block]);
  return null;
};

/** The axes that a normalization computes with, which keep their size. */
function normalizedAxes(node: Node, rank: number, opset: number): readonly number[] | null {
  const from = (axis: number): number[] => {
    const first = fromFront(axis, rank);
    return Array.from({ length: rank - first }, (_, i) => first + i);
  };
  switch (node.op) {
    case "LayerNormalization":
    case "RMSNormalization":
      return from(node.int("axis", -1));
    case "LRN":
      return [1];
    case "MeanVarianceNormalization":
      return normalizeAxes(node.ints("axes") ?? [0, 2, 3], rank);
    case "LpNormalization":
      return normalizeAxes([node.int("axis", -1)], rank);
    default:
      // Up to opset 12 a Softmax takes the axes from there on as one.
      return opset < 13 ? from(node.int("axis", 1)) : normalizeAxes([node.int("axis", -1)], rank);
  }
}

export const normalization: Rule = (node, trace) => {
  const rank = node.inputs[0]?.shape?.length;
  const opset = trace.model.opsets.get("") ?? 1;
  const axes = rank === undefined ? null : normalizedAxes(node, rank, opset);
  if (!axes || !readsOnlyFirst(node)) return `the axes of ${node.displayName} are not known`;
  // What stays whole goes on, so that all that is added to it is known to stay for the same reason.
  const blocks = trace.of(node.inputs[0]);
  const [whole, divided] = [blocks.filter(isRow), blocks.filter((block) => !isRow(block))];
  const why = `${node.displayName} normalizes over it`;
  for (const { axes: own, ids } of whole) if (axes.includes(own[0]!)) trace.sets.freezeAll(ids, why);
  trace.give(node.output, [...whole, ...trace.fix(divided, axes, why)]);
  return null;
};

const isRow = ({ axes }: Block): boolean => axes.length === 1;

/** One number of all along some axes. */
export const reduction: Rule = (node, trace) => {
  const rank = node.inputs[0]?.shape?.length;
  if (rank === undefined) return `the shape that ${node.displayName} reads is not known`;
  const given = givenAxes(node);
  if (!given && node.inputs[1]) return `the axes of ${node.displayName} are not constant`;
  const isEmpty = !given || given.length === 0;
  if (isEmpty && node.int("noop_with_empty_axes", 0)) return unary(node, trace);
  const axes = isEmpty ? Array.from({ length: rank }, (_, i) => i) : normalizeAxes(given, rank);
  if (!axes) return `the axes of ${node.displayName} are out of range`;
  const blocks = trace.fix(trace.of(node.inputs[0]), axes, `${node.displayName} reduces over it`);
  const isKept = node.int("keepdims", 1) !== 0;
  const moved = (axis: number): number => (isKept ? axis : axis - axes.filter((each) => each < axis).length);
  trace.give(
    node.output,
    blocks.map((block) => ({ ...block, axes: block.axes.map(moved) })),
  );
  return null;
};

/** What moves over the places of a channel: the channels are axis 1, and everything behind them keeps its size. */
export const pooling: Rule = (node, trace) => {
  if (!readsOnlyFirst(node)) return `${node.displayName} says where its values came from`;
  const blocks = trace.of(node.inputs[0]);
  const places = blocks.flatMap(({ axes }) => axes).filter((axis) => axis > 1);
  trace.give(node.output, trace.fix(blocks, places, `${node.displayName} runs along it`));
  return null;
};
