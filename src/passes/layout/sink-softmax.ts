/**
 * Transpose<perm>(Softmax<axis>(x))  =>  Softmax<-1>(Transpose<perm>(x))     where it moves that axis to the end
 *
 * LogSoftmax likewise. What attention with a softmax over the tokens of its keys becomes (Efficient Attention, CoaT): ONNX Runtime
 * would exchange the axis with the last one and back, whatever moves it behind.
 */
import { attr, fromFront } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { permutationOf } from "./permutation.js";

export const sinkSoftmax = defineRewrite({
  name: "sink-softmax",
  summary: "Compute Softmax behind the Transpose that moves its axis to the end",
  numerics: "rounding",
  roots: ["Transpose"],
  // It went over several axes before.
  minOpset: 13,
  onlyOnCpu: "it moves an axis to the end, which takes long with several behind it",
  rewrite(root, { create }) {
    const softmax = soleProducer(root.inputs[0], "Softmax") ?? soleProducer(root.inputs[0], "LogSoftmax");
    const perm = permutationOf(root);
    if (!softmax || !perm || softmax.graph !== root.graph) return null;
    const last = perm.length - 1;
    const axis = fromFront(softmax.int("axis", -1), perm.length);
    if (axis === last || perm[last] !== axis) return null;
    const moved = create("Transpose", softmax.inputs, root.attributes, { like: root }).output;
    return create(softmax.op, [moved], { axis: attr.int(-1) }, { like: softmax });
  },
});
