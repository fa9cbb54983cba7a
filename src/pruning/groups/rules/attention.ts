/**
 * Attention in one node. Its heads do not mix, so a head goes with its part of queries, keys, values and
 * result; where several heads of queries share one of keys they go together.
 *
 *   [B, heads, S, d] each, or [B, S, heads * d] with the number of heads in attributes
 */
import type { Node, Value } from "../../../ir/index.js";
import { rowOf } from "../block.js";
import { alignedOperand, broadcastUnits, type Operand } from "../broadcast.js";
import type { Rule, UnitTrace } from "../unit-trace.js";

export const attention: Rule = (node, trace) => {
  const [query, key, value, mask, ...past] = node.inputs;
  const [result, ...more] = node.outputs;
  if (!query || !key || !value || !result) return `${node.displayName} is incomplete`;
  if (past.some((each) => each) || more.some((each) => each && each.useCount > 0))
    return `${node.displayName} keeps what it computed for the next run`;
  const heads = [query, key, value].map((each, i) => headsOf(node, trace, each, i === 0));
  const [ofQuery, ofKey, ofValue] = heads;
  if (!ofQuery || !ofKey || !ofValue || ofKey.length !== ofValue.length || ofQuery.length % ofKey.length !== 0)
    return `${node.displayName} mixes its heads with others`;
  const share = ofQuery.length / ofKey.length;
  for (const [i, id] of ofQuery.entries()) {
    const group = Math.floor(i / share);
    trace.sets.join(id, ofKey[group]!);
    trace.sets.join(id, ofValue[group]!);
  }
  trace.sets.callHeads(ofQuery);
  if (mask) {
    // It is added to the scores [B, heads, S, T].
    const added = alignedOperand(node, 3, 4, trace);
    if (!added) return `the shape of the mask of ${node.displayName} is not known`;
    added.blocks = trace.fix(added.blocks, [0, 2, 3], `${node.displayName} masks with it`);
    const scores: Operand = { value: query, input: -1, axisAt: () => null, blocks: [rowOf(1, ofQuery)] };
    if (broadcastUnits(node, [scores, added], trace).length === 0)
      return `${node.displayName} masks its heads one by one`;
  }
  giveHeads(node, trace, result, ofQuery);
  return null;
};

/** One id per head, joined over its positions; null where the layout is not known. Other axes keep their size. */
function headsOf(node: Node, trace: UnitTrace, value: Value, isQuery: boolean): Int32Array | null {
  const rank = value.shape?.length;
  const blocks = trace.of(value);
  const axis = rank === 4 ? 1 : 2;
  const ids = trace.rowAt(blocks, axis, `${node.displayName} computes with it`);
  const others = blocks.flatMap((block) => (block.axes.includes(axis) ? [] : block.axes));
  trace.fix(
    blocks.filter((block) => !block.axes.includes(axis)),
    others,
    `${node.displayName} computes with it`,
  );
  if (!ids || (rank !== 3 && rank !== 4)) return null;
  return rank === 4 ? ids : joinHeads(trace, ids, headCount(node, isQuery));
}

const headCount = (node: Node, isQuery: boolean): number =>
  node.int(isQuery ? "q_num_heads" : "kv_num_heads", 0) || node.int("num_heads", 0);

function joinHeads(trace: UnitTrace, ids: Int32Array, heads: number): Int32Array | null {
  const size = ids.length / heads;
  if (heads === 0 || !Number.isInteger(size)) return null;
  for (const [i, id] of ids.entries()) trace.sets.join(ids[i - (i % size)]!, id);
  return ids.filter((_, i) => i % size === 0);
}

function giveHeads(node: Node, trace: UnitTrace, result: Value, heads: Int32Array): void {
  const shape = result.shape;
  if (shape?.length === 4) trace.give(result, [rowOf(1, heads)]);
  const width = shape?.length === 3 ? shape[2] : null;
  if (typeof width === "number" && width % heads.length === 0) {
    const size = width / heads.length;
    trace.give(result, [
      rowOf(
        2,
        Int32Array.from({ length: width }, (_, i) => heads[Math.floor(i / size)]!),
      ),
    ]);
  } else if (shape?.length !== 4) trace.sets.freezeAll(heads, `the shape that ${node.displayName} makes is not known`);
}

/** Turns pairs of positions within each head. */
export const rotaryEmbedding: Rule = (node, trace) => {
  const [value] = node.inputs;
  if (!value || node.inputs.slice(1).some((each) => trace.of(each).length > 0))
    return `${node.displayName} is incomplete`;
  const rank = value.shape?.length;
  const axis = rank === 4 ? 1 : 2;
  const why = `${node.displayName} turns it`;
  const blocks = trace.of(value);
  const elsewhere = blocks.flatMap(({ axes }) => axes).filter((each) => each !== axis);
  const [block] = trace.fix(blocks, elsewhere, why);
  if (!block) return null;
  if (rank === 3 && !joinHeads(trace, block.ids, headCount(node, false))) return why;
  if (rank !== 3 && rank !== 4) return why;
  trace.give(node.output, [block]);
  return null;
};
