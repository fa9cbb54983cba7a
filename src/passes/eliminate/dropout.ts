import { isInferenceDropout } from "../../ops/facts.js";
import { defineRewrite } from "../../rewrite/index.js";
import { readsOnlyFirst } from "../../rewrite/match.js";

/** Dropout(x)  =>  x, when it does not train. */
export const eliminateDropout = defineRewrite({
  name: "eliminate-dropout",
  summary: "Remove Dropout nodes that only pass their input through",
  numerics: "exact",
  roots: ["Dropout"],
  rewrite(dropout, { skip }) {
    const input = dropout.inputs[0];
    if (!input) return null;
    if (!isInferenceDropout(dropout)) return skip("Dropout may be in training mode");
    if (!readsOnlyFirst(dropout)) return skip("the mask is read");
    return input;
  },
});
