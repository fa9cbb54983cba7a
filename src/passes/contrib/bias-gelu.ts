/**
 *   Gelu(x + bias)                       =>  com.microsoft::BiasGelu(x, bias)
 *   Gelu<approximate="tanh">(x + bias)   =>  com.microsoft::FastGelu(x, bias)
 *
 * for a bias of one number per element of the last axis. f32 only. FastGelu is the tanh
 * form; the erf form never becomes it, since that would change the numbers.
 */
import type { Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { sizeFacts } from "../fold/size-facts.js";
import { splitBias } from "../fuse/addend.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseBiasGelu = defineRewrite({
  name: "fuse-bias-gelu",
  summary: "Let Gelu add the bias in front of it",
  numerics: "rounding",
  roots: ["Gelu", `${RUNTIME_DOMAIN}::Gelu`, `${RUNTIME_DOMAIN}::FastGelu`],
  rewrite(root, { create, skip, shared }) {
    const sum = soleProducer(root.inputs[0], "Add");
    // FastGelu may have its bias already.
    if (!sum || root.inputs[1]) return null;
    const parts = splitBias(sum, shared(sizeFacts));
    if (!parts) return skip("the addend is not one number per element of the last axis");
    const inputs: [Value, Value] = [parts.x, parts.bias];
    if ((parts.x.dtype ?? parts.bias.dtype) !== "f32") return skip("BiasGelu and FastGelu compute in f32 only");
    const isTanh = root.op === "FastGelu" || root.string("approximate", "none") === "tanh";
    return create(isTanh ? "FastGelu" : "BiasGelu", inputs, {}, { domain: RUNTIME_DOMAIN });
  },
});
