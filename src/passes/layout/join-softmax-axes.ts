/**
 *   Softmax<axis=1>(x: [N,C,H,W])  =>  Reshape(Softmax<axis=1>(Reshape(x, [0,0,H*W])), [0,0,H,W])       likewise LogSoftmax
 *
 * Each row is the same numbers in the same order. ONNX Runtime exchanges the axis with the last one and back, which for more
 * axes behind it than one takes several times as long as all else: 10.2 ns an element of [1,21,256,256], and 1.4 so (1.32, Zen 5, 1 thread).
 */
import { attr, Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";

export const joinSoftmaxAxes = defineRewrite({
  name: "join-softmax-axes",
  summary: "Let Softmax see the axes behind its own as one",
  numerics: "rounding",
  roots: ["Softmax", "LogSoftmax"],
  // It went over several axes before.
  minOpset: 13,
  onlyOnCpu: "it moves an axis to the end, which takes long with several behind it",
  rewrite(softmax, { create, constant }) {
    const x = softmax.inputs[0];
    if (!x?.shape) return null;
    const given = softmax.int("axis", -1);
    const axis = given < 0 ? given + x.shape.length : given;
    const behind = x.shape.slice(axis + 1);
    if (behind.length < 2 || !behind.every(isKnown)) return null;
    const places = behind.reduce((all, size) => all * size, 1);
    // Nothing to exchange; and of no elements at all a 0 would say something else.
    if (places < 2) return null;
    // 0 keeps a size as it is.
    const kept = new Array<number>(axis + 1).fill(0);
    const view = (name: string, sizes: readonly number[]) =>
      constant(`${softmax.output.label}/${name}`, Tensor.i64([kept.length + sizes.length], [...kept, ...sizes]));
    const rows = create("Reshape", [x, view("merged", [places])]).output;
    const result = create(softmax.op, [rows], { axis: attr.int(axis) }, { like: softmax }).output;
    return create("Reshape", [result, view("shape", behind)]);
  },
});
