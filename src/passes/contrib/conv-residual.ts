/**
 *   Conv(x, w, b) + z  =>  com.microsoft::FusedConv(x, w, b, z)
 *
 * for a z of the result's shape, f32. Only for a Conv along one or three axes: along two, the
 * runtime rearranges Conv and FusedConv for wide registers, but no FusedConv with a fourth
 * input, which made a residual block a fifth slower than Conv and Add.
 */
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { sizeFacts } from "../fold/size-facts.js";
import { areAlike } from "../fuse/addend.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseConvResidual = defineRewrite({
  name: "fuse-conv-residual",
  summary: "Let a Conv along one or three axes add the residual that follows it",
  numerics: "rounding",
  roots: ["Add"],
  minOpset: 7,
  rewrite(root, { create, skip, shared }) {
    for (const index of [0, 1]) {
      const conv = soleProducer(root.inputs[index], "Conv");
      const residual = root.inputs[1 - index];
      const [x, w, bias] = conv?.inputs ?? [];
      if (!conv || !residual || !x || !w) continue;
      const rank = w.shape?.length ?? x.shape?.length;
      if (rank === undefined) return null;
      if (rank === 4) return skip("the runtime is quicker with a Conv along two axes and an Add");
      if (residual.dtype !== "f32") return skip("FusedConv computes in f32 only");
      if (!areAlike(residual, conv.output, shared(sizeFacts)))
        return skip("the addend may differ in shape from the result of the Conv");
      return create("FusedConv", [x, w, bias ?? null, residual], conv.attributes, {
        domain: RUNTIME_DOMAIN,
        like: conv,
      });
    }
    return null;
  },
});
