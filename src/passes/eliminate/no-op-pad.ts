import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";

/** Pad(x, zeros)  =>  x. The pads are an input since opset 11, `pads` since 2, `paddings` before. */
export const eliminateNoOpPad = defineRewrite({
  name: "eliminate-no-op-pad",
  summary: "Remove Pads by nothing",
  numerics: "exact",
  roots: ["Pad"],
  rewrite(pad) {
    const pads = pad.inputs[1] ? constantIntegers(pad.inputs[1]) : (pad.ints("pads") ?? pad.ints("paddings"));
    return pads?.every((amount) => amount === 0) ? (pad.inputs[0] ?? null) : null;
  },
});
