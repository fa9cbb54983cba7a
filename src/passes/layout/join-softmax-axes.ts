/**
 *   Softmax<axis=1>(x: [N,C,H,W])  =>  Reshape(Softmax<axis=1>(Reshape(x, [0,0,H*W])), [0,0,H,W])       likewise LogSoftmax
 *
 * Each row is the same numbers in the same order. ONNX Runtime exchanges the axis with the last one and back, which for more
 * axes behind it than one takes several times as long as all else: 10.2 ns an element of [1,21,256,256], and 1.4 so (1.32, Zen 5,
 * 1 thread). Sizes that are open are computed, in some microseconds.
 */
import { attr, fromFront, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { isNeverEmpty } from "./never-empty.js";

/** Of Shape with a start, and of Reshape that takes 0 for 0. */
const OPEN_SIZES_OPSET = 15;

export const joinSoftmaxAxes = defineRewrite({
  name: "join-softmax-axes",
  summary: "Let Softmax see the axes behind its own as one",
  numerics: "rounding",
  roots: ["Softmax", "LogSoftmax"],
  // It went over several axes before.
  minOpset: 13,
  onlyOnCpu: "it moves an axis to the end, which takes long with several behind it",
  rewrite(softmax, context) {
    const x = softmax.inputs[0];
    if (!x?.shape) return null;
    const axis = fromFront(softmax.int("axis", -1), x.shape.length);
    const views = x.shape.length - axis > 2 ? viewsOf(x, axis, softmax.output.label, context) : null;
    if (!views) return null;
    const { merged, whole, exactly = {} } = views;
    const rows = context.create("Reshape", [x, merged], exactly).output;
    const result = context.create(softmax.op, [rows], { axis: attr.int(axis) }, { like: softmax }).output;
    return context.create("Reshape", [result, whole], exactly);
  },
});

/** Null where there is nothing to gain, or sizes cannot be told. */
function viewsOf(x: Value, axis: number, label: string, context: RewriteContext): Views | null {
  const shape = x.shape!;
  const [kept, behind] = [shape.slice(0, axis + 1), shape.slice(axis + 1)];
  if (!behind.every(isKnown)) {
    const isOpen = context.opset >= OPEN_SIZES_OPSET && kept.every((size, i) => isNeverEmpty(size, i, context));
    return isOpen ? openViews(x, axis, context) : null;
  }
  // Nothing to exchange; and of no elements at all a 0 would say something else.
  const places = behind.reduce((all, size) => all * size, 1);
  if (places < 2) return null;
  // 0 keeps a size as it is.
  const view = (name: string, sizes: readonly number[]): Value =>
    context.constant(`${label}/${name}`, Tensor.i64([kept.length + sizes.length], [...kept.map(() => 0), ...sizes]));
  return { merged: view("merged", [places]), whole: view("shape", behind) };
}

interface Views {
  readonly merged: Value;
  readonly whole: Value;
  readonly exactly?: Parameters<RewriteContext["create"]>[2];
}

/** The same by sizes as they are when it runs. */
function openViews(x: Value, axis: number, { create }: RewriteContext): Views {
  const before = create("Shape", [x], { start: attr.int(0), end: attr.int(axis + 1) }).output;
  const places = create("ReduceProd", [create("Shape", [x], { start: attr.int(axis + 1) }).output]).output;
  return {
    merged: create("Concat", [before, places], { axis: attr.int(0) }).output,
    whole: create("Shape", [x]).output,
    exactly: { allowzero: attr.int(1) },
  };
}
