import { defineRewrite } from "../../rewrite/index.js";
import { isNormalized } from "../fuse/residual-sum.js";

/** Sum(a, b)  =>  Add(a, b), which is what patterns are written in. Since opset 8 both broadcast alike. In front of a normalization a Sum is meant. */
export const eliminateBinarySum = defineRewrite({
  name: "eliminate-binary-sum",
  summary: "Write a Sum of two tensors as Add",
  numerics: "exact",
  roots: ["Sum"],
  minOpset: 8,
  rewrite: (sum, { create }) => (sum.inputs.length === 2 && !isNormalized(sum) ? create("Add", sum.inputs) : null),
});
