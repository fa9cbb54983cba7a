import { attr, dtypeCode } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";

/**
 * CastLike(x, like: T)  =>  Cast<to=T>(x)
 *
 * Whatever else says how to cast (saturation, rounding) is the same attribute in both. The bodies
 * of ONNX's own functions are full of these, mostly on constants, which then fold.
 */
export const eliminateCastLike = defineRewrite({
  name: "eliminate-cast-like",
  summary: "Write the type of a CastLike out, where it is known, as a Cast",
  numerics: "exact",
  roots: ["CastLike"],
  rewrite(root, { create, skip }) {
    const [x, like] = root.inputs;
    if (!x || !like) return null;
    if (!like.dtype) return skip("the type to cast to is not known");
    const isFloat8 = like.dtype.startsWith("f8");
    // Runtimes refuse a Cast that says how to saturate where that means nothing.
    const attributes = [...root.attributes].filter(([name]) => name !== "saturate" || isFloat8);
    return create("Cast", [x], [...attributes, ["to", attr.int(dtypeCode(like.dtype))]]);
  },
});
