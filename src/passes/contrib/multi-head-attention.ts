/**
 *   Reshape(Transpose(MatMul(Softmax(MatMul(q, Transpose(k)) * scale + mask), v)))
 *     =>  com.microsoft::MultiHeadAttention<num_heads, scale>(q, k, v, _, _, mask)
 *
 * on [B, S, H * D], f32, for models that cannot be raised to the opset that has Attention: that
 * one is as fast, and knows heads that share keys and values.
 */
import { attr } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { coreBefore, emitAttention, lastOf } from "../attention/emit.js";
import { maskOf } from "../attention/mask.js";
import { attentionAt } from "../attention/pattern.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import { RUNTIME_DOMAIN } from "./domain.js";

/** Attention is of this opset; the part of a Shape that masks are stretched by, of the other. */
const HAS_ATTENTION = 23;
const HAS_PART_OF_SHAPE = 15;

export const fuseMultiHeadAttention = defineRewrite({
  name: "fuse-multi-head-attention",
  summary: "Turn attention written out into MultiHeadAttention where the opset has no Attention",
  numerics: "rounding",
  roots: ["MatMul", "Transpose", "Reshape"],
  rewrite(root, context) {
    const core = coreBefore(root, "MatMul");
    if (context.opset >= HAS_ATTENTION || context.opset < HAS_PART_OF_SHAPE) return null;
    if (!core || lastOf(core) !== root) return null;
    const sizesOf = context.shared(sizeFacts).shapeOf;
    const parts = attentionAt(core, context, sizesOf);
    if (parts === null) return null;
    if (typeof parts === "string") return context.skip(parts);
    const { scale, softcap, q, k, v } = parts;
    if (softcap > 0) return context.skip("MultiHeadAttention does not cap scores");
    if (!areSame(q.heads, k.heads)) return context.skip("MultiHeadAttention has as many heads of keys as of queries");
    const mask = maskOf(parts, "as written", sizesOf, context);
    if (typeof mask === "string") return context.skip(mask);
    // Bias and padding of keys come before what is added to the scores, which has four axes.
    if (mask && sizesOf(mask)?.length !== 4) return context.skip("the mask has no four axes");
    const wanted = {
      ...{ core, root, q, k, v, present: [] },
      others: mask ? [null, null, mask] : [],
      attributes: { scale: attr.float(scale) },
      contrib: { op: "MultiHeadAttention", domain: RUNTIME_DOMAIN },
    };
    const emitted = emitAttention(wanted, sizesOf, context);
    return emitted?.answer ?? context.skip("the heads are not split from tokens and merged again");
  },
});
