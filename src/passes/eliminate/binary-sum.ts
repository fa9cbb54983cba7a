import { defineRewrite } from "../../rewrite/index.js";

/** Sum(a, b)  =>  Add(a, b), which is what patterns are written in. Since opset 8 both broadcast alike. */
export const eliminateBinarySum = defineRewrite({
  name: "eliminate-binary-sum",
  summary: "Write a Sum of two tensors as Add",
  numerics: "exact",
  roots: ["Sum"],
  minOpset: 8,
  rewrite: (sum, { create }) => (sum.inputs.length === 2 ? create("Add", sum.inputs) : null),
});
