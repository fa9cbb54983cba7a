import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { boundsOf, TO_THE_END } from "../layout/slice-bounds.js";

/** Slice(x) that takes every element of every axis in order  =>  x */
export const eliminateNoOpSlice = defineRewrite({
  name: "eliminate-no-op-slice",
  summary: "Remove Slices that take everything",
  numerics: "exact",
  roots: ["Slice"],
  rewrite(slice) {
    const input = slice.inputs[0];
    const bounds = boundsOf(slice);
    if (!input || !bounds) return null;
    const shape = input.shape;
    const takesAll = bounds.starts.every((start, i) => {
      if (start !== 0n || bounds.steps[i] !== 1n) return false;
      const end = bounds.ends[i]!;
      if (end >= TO_THE_END) return true;
      const axis = bounds.axes[i]!;
      const dim = shape?.[axis < 0 ? axis + shape.length : axis];
      return isKnown(dim) && end >= BigInt(dim);
    });
    return takesAll ? input : null;
  },
});
