import { defineRewrite } from "../../rewrite/index.js";

/**
 * Identity(x)  =>  x
 *
 * Left where ONNX needs it: between an input, or a value of the graph around, and an
 * output; and where the value is an output already.
 */
export const eliminateIdentity = defineRewrite({
  name: "eliminate-identity",
  summary: "Remove Identity nodes",
  numerics: "exact",
  roots: ["Identity"],
  rewrite(identity) {
    const input = identity.inputs[0];
    if (!input) return null;
    const isPort = identity.output.isGraphOutput;
    const needsIt = input.isGraphInput || input.graph !== identity.graph || input.isGraphOutput;
    return isPort && needsIt ? null : input;
  },
});
