/**
 *   a Gelu written out with Erf   =>  com.microsoft::Gelu(x)
 *   a Gelu written out with Tanh  =>  com.microsoft::FastGelu(x)
 *
 * where the model keeps an opset before 20, which has no Gelu of its own. f32 only.
 */
import { defineRewrite } from "../../rewrite/index.js";
import { geluOf } from "../fuse/gelu.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseOldGelu = defineRewrite({
  name: "fuse-old-gelu",
  summary: "Turn a Gelu written out into the runtime's own where the opset has none",
  numerics: "rounding",
  roots: ["Mul", "Div"],
  minOpset: 7,
  rewrite(root, { create, skip, opset }) {
    const gelu = opset < 20 ? geluOf(root) : null;
    if (!gelu) return null;
    if (gelu.x.dtype !== "f32") return skip("the runtime's Gelu computes in f32 only");
    return create(gelu.form === "erf" ? "Gelu" : "FastGelu", [gelu.x], {}, { domain: RUNTIME_DOMAIN });
  },
});
