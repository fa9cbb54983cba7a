/**
 *   Slice(x, -1, INT64_MAX, axis, step -1)  =>  Slice(x, -1, INT64_MIN, axis, step -1)
 *
 * Kernels take such an end for "all the way", shape inference for "nothing". As long as the sizes of x are not known
 * nobody notices; when passes have made them known, the runtime would refuse what its own inference makes of them.
 */
import { backwardEnds } from "../../ops/slice-end.js";
import { defineRewrite } from "../../rewrite/index.js";

export const foldSliceEnd = defineRewrite({
  name: "fold-slice-end",
  summary: "Write the end of a Slice that runs backwards as the runtime reads it",
  numerics: "exact",
  roots: ["Slice"],
  rewrite(slice, { create, constant }) {
    const ends = backwardEnds(slice);
    if (!ends) return null;
    const [data, starts, old, ...rest] = slice.inputs;
    // The old sizes come from the inference that is wrong about it.
    const type = { dtype: slice.output.dtype, shape: data?.shape?.map(() => null) ?? null };
    return create(
      "Slice",
      [data!, starts!, constant(old!.label, ends), ...rest],
      {},
      {
        labels: [slice.output.label],
        types: [type],
      },
    );
  },
});
