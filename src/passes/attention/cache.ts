/**
 *   Attention(q, Concat<axis=2>(past_key, k), Concat<axis=2>(past_value, v), mask)
 *     =>  Attention(q, k, v, mask, past_key, past_value)
 *
 * whose further outputs are what the two Concats gave: outputs of the model, for the next
 * step, which nothing else may read. What splits keys and values into heads then
 * goes the way of what splits the query.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { producerOf, readsOnlyFirst } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import { coreBefore, emitAttention, lastOf } from "./emit.js";
import { headsOf, type SizesOf } from "./heads.js";

export const fuseAttentionCache = defineRewrite({
  name: "fuse-attention-cache",
  summary: "Let Attention put new keys and values behind those of the past",
  numerics: "rounding",
  roots: ["Attention", "Transpose", "Reshape"],
  minOpset: 23,
  rewrite(root, context) {
    const core = coreBefore(root, "Attention");
    if (!core || lastOf(core) !== root || core.inputs.length > 4) return null;
    const sizesOf = context.shared(sizeFacts).shapeOf;
    const [query, key, value, mask] = core.inputs;
    const keys = appended(key, core, sizesOf);
    const values = appended(value, core, sizesOf);
    // The runtime's kernel wants its further outputs read.
    if (!query || !keys || !values || !keys.both.isGraphOutput || !values.both.isGraphOutput) return null;
    if (!readsOnlyFirst(core) || core.int("is_causal", 0) !== 0)
      return context.skip("a causal mask counts from the past");
    if ([keys, values].some(({ both }) => !isOnlyReadBy(both, core))) {
      return context.skip("keys or values with those of the past are read elsewhere");
    }
    if (!areSame(sizesOf(keys.past)?.[2], sizesOf(values.past)?.[2])) {
      return context.skip("the pasts of keys and values may differ in length");
    }
    const [q, k, v] = [query, keys.present, values.present].map((x) => headsOf(x, sizesOf));
    if (!q || !k || !v) return null;
    const { q_num_heads: _, kv_num_heads: __, ...attributes } = Object.fromEntries(core.attributes);
    const present = [keys, values].map(({ both }) => ({ label: both.label, type: both.type }));
    const others = [mask ?? null, keys.past, values.past];
    const emitted = emitAttention({ core, root, q, k, v, others, attributes, present }, sizesOf, context);
    if (!emitted) return null;
    context.alsoReplace(keys.both, emitted.attention.outputs[1]!);
    context.alsoReplace(values.both, emitted.attention.outputs[2]!);
    return emitted.answer;
  },
});

interface Appended {
  readonly both: Value;
  readonly past: Value;
  readonly present: Value;
}

/** [B, H, P + S, D] put together from [B, H, P, D] and [B, H, S, D], in the graph of `core`. */
function appended(both: Value | null | undefined, core: Node, sizesOf: SizesOf): Appended | null {
  // A graph around the one of the core cannot see what the core makes.
  const concat = both?.graph === core.graph ? producerOf(both, "Concat", core.graph) : null;
  const [past, present] = concat?.inputs ?? [];
  if (!both || !past || !present || concat!.inputs.length !== 2 || sizesOf(both)?.length !== 4) return null;
  return [2, -2].includes(concat!.int("axis", 0)) && past.dtype === "f32" ? { both, past, present } : null;
}

/** Whether one input of a node reads a value, and otherwise only outputs of the model do. */
function isOnlyReadBy(value: Value, node: Node): boolean {
  const inside = value.uses.filter((use) => use.kind === "input");
  return inside.length === 1 && inside[0]!.node === node;
}
