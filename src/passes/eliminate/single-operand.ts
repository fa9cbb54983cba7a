import { defineRewrite } from "../../rewrite/index.js";

/** Concat, Sum, Max, Min, Mean of one tensor, and Split into one part  =>  that tensor */
export const eliminateSingleOperand = defineRewrite({
  name: "eliminate-single-operand",
  summary: "Remove Concat, Sum, Max, Min and Mean of a single tensor, and Split into one part",
  numerics: "exact",
  roots: ["Concat", "Sum", "Max", "Min", "Mean", "Split"],
  rewrite(root) {
    const input = root.inputs[0];
    if (!input) return null;
    if (root.op === "Split") return root.outputs.length === 1 ? input : null;
    return root.inputs.length === 1 ? input : null;
  },
});
