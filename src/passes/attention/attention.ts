/**
 *   MatMul(Softmax(MatMul(q, Transpose(k)) * scale + mask), v)  =>  Attention<scale>(q, k, v, mask)
 *
 * With the splits into heads on both sides, where there are some:
 *
 *   Reshape(Transpose(MatMul(...)))  =>  Attention<q_num_heads, kv_num_heads>(q, k, v, mask)
 *
 * on [B, S, H * D]. Measured on CPU the second is faster than the nodes, the first as fast.
 * The runtime's kernel refuses a batch of none and sequences of none, which the nodes compute
 * without a result; sizes that are symbols count as one at least. A past of none it takes.
 *
 * One wider MatMul for query, key and value would save nodes on top of that, but splitting
 * its result costs more than it saves where batches are large: they stay apart.
 */
import { attr } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { sizeFacts } from "../fold/size-facts.js";
import { coreBefore, emitAttention, lastOf } from "./emit.js";
import { maskOf } from "./mask.js";
import { attentionAt } from "./pattern.js";

export const fuseAttention = defineRewrite({
  name: "fuse-attention",
  summary: "Turn attention written out (MatMul, scale, mask, Softmax, MatMul) into Attention",
  numerics: "rounding",
  roots: ["MatMul", "Transpose", "Reshape"],
  minOpset: 23,
  rewrite(root, context) {
    const core = coreBefore(root, "MatMul");
    if (!core || lastOf(core) !== root) return null;
    const sizesOf = context.shared(sizeFacts).shapeOf;
    const parts = attentionAt(core, context, sizesOf);
    if (parts === null) return null;
    if (typeof parts === "string") return context.skip(parts);
    const mask = maskOf(parts, "zeros", sizesOf, context);
    if (typeof mask === "string") return context.skip(mask);
    const { scale, softcap, q, k, v } = parts;
    const attributes = { scale: attr.float(scale), ...(softcap > 0 && { softcap: attr.float(softcap) }) };
    const wanted = { core, root, q, k, v, others: mask ? [mask] : [], attributes, present: [] };
    const emitted = emitAttention(wanted, sizesOf, context);
    return emitted?.answer ?? context.skip("the heads of the key are not split from those of query and value alike");
  },
});
