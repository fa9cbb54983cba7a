/**
 * Convolutions make channels and contract those of their input. A grouped one mixes nothing between its
 * groups: a group goes with its inputs and its outputs, or stays.
 *
 *   Conv           x [N, C, ...], W [M, C / group, ...]
 *   ConvTranspose  x [N, C, ...], W [C, M / group, ...]
 */
import type { Node } from "../../../ir/index.js";
import { rowOf } from "../block.js";
import type { Rule, UnitTrace } from "../unit-trace.js";

export const conv: Rule = (node, trace) => convolution(node, trace, 0);
export const convTranspose: Rule = (node, trace) => convolution(node, trace, 1);

function convolution(node: Node, trace: UnitTrace, outAxis: 0 | 1): string | null {
  const [x, weight, bias] = node.inputs;
  if (!trace.isCuttable(weight)) {
    return weight?.producer?.op === "DequantizeLinear"
      ? `the weights of ${node.displayName} are integers already: prune first, then quantize`
      : `the weights of ${node.displayName} are not constant`;
  }
  if (bias && !trace.isCuttable(bias)) return `the bias of ${node.displayName} is not constant`;
  const dims = weight!.constant!.dims;
  const groups = node.int("group", 1);
  const moving = trace.of(x);
  const elsewhere = moving.flatMap(({ axes }) => axes).filter((axis) => axis !== 1);
  const read = trace.fix(moving, elsewhere, `${node.displayName} runs along it`)[0]?.ids ?? null;
  const inputs = outAxis === 0 ? dims[1]! * groups : dims[0]!;
  const outputs = outAxis === 0 ? dims[0]! : dims[1]! * groups;
  if (read && read.length !== inputs) return `the weights of ${node.displayName} do not fit its input`;
  if (groups === 1) {
    if (read) trace.noteConsumer(node, 1, 1 - outAxis, read, 0, 1);
    makeOutput(node, trace, outAxis, trace.sets.add(outputs));
    return null;
  }
  if (!read) {
    const name = x?.isGraphInput ? `the model's input ${x.label}` : (x?.label ?? "its input");
    const why = `${node.displayName} has ${groups} groups, and the channels of ${name} cannot be removed`;
    const stays = trace.sets.addFrozen(outputs, why);
    if (outAxis === 0) makeOutput(node, trace, 0, stays);
    else trace.give(node.output, [rowOf(1, stays)]);
    return null;
  }
  const made = trace.sets.add(outputs);
  joinGroups(trace, read, made, groups);
  if (outAxis === 0) makeOutput(node, trace, 0, made);
  else {
    trace.note(node, 1, "producer", [rowOf(0, read)]);
    finish(node, trace, made);
  }
  return null;
}

function joinGroups({ sets }: UnitTrace, read: Int32Array, made: Int32Array, groups: number): void {
  const [from, to] = [read.length / groups, made.length / groups];
  for (let group = 0; group < groups; group++) {
    const first = read[group * from]!;
    for (let i = 1; i < from; i++) sets.join(first, read[group * from + i]!);
    for (let i = 0; i < to; i++) sets.join(first, made[group * to + i]!);
  }
}

function makeOutput(node: Node, trace: UnitTrace, axis: number, ids: Int32Array): void {
  trace.note(node, 1, "producer", [rowOf(axis, ids)]);
  finish(node, trace, ids);
}

function finish(node: Node, trace: UnitTrace, ids: Int32Array): void {
  if (node.inputs[2]) trace.note(node, 2, "follower", [rowOf(0, ids)]);
  trace.give(node.output, [rowOf(1, ids)]);
}
