/**
 * Recurrent networks read what they made a step before: their hidden units stay, and so does what
 * they read, until somebody needs them narrower.
 *
 *   W [directions, gates * hidden, inputs], results [..., hidden]
 */
import { rowOf } from "../block.js";
import type { Rule } from "../unit-trace.js";

const gates: Readonly<Record<string, number>> = { RNN: 1, GRU: 3, LSTM: 4 };

export const recurrent: Rule = (node, trace) => {
  const reads = `${node.displayName} is recurrent, and what it reads stays`;
  for (const value of node.inputs) trace.freezeValue(value, reads);
  const rows = node.inputs[1]?.constant?.dims[1];
  const hidden = (rows ?? 0) / gates[node.op]!;
  if (!trace.isCuttable(node.inputs[1]) || !Number.isInteger(hidden) || hidden === 0) return reads;
  const ids = trace.sets.addFrozen(hidden, `${node.displayName} reads what it made a step before`);
  trace.note(node, 1, "producer", [
    rowOf(
      1,
      Int32Array.from({ length: rows! }, (_, i) => ids[i % hidden]!),
    ),
  ]);
  for (const value of node.outputs) {
    const rank = value?.shape?.length;
    if (value && rank !== undefined && value.shape![rank - 1] === hidden) trace.give(value, [rowOf(rank - 1, ids)]);
  }
  return null;
};
