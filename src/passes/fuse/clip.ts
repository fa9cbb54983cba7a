/**
 * Min(Max(x, a), b)          =>  Clip(x, a, b)
 * Clip(x, 0, no bound)       =>  Relu(x)
 * Clip(Relu(x), 0, 6)        =>  Clip(x, 0, 6)
 *
 * Any two of Relu, Clip, Max and Min by a number make one. f32 only.
 */
import { defineRewrite } from "../../rewrite/index.js";
import { clipRangeBehind, clipRangeOf, createClip } from "./clip-range.js";

export const fuseClip = defineRewrite({
  name: "fuse-clip",
  summary: "Merge Relu, Clip, Max and Min by constants, and name the result Relu where it is one",
  numerics: "rounding",
  roots: ["Relu", "Clip", "Max", "Min"],
  minOpset: 6,
  rewrite(root, context) {
    const outer = clipRangeOf(root);
    if (!outer) return null;
    const found = clipRangeBehind(outer.input, root.graph);
    const inner = found && found.node.output.useCount === 1 ? found : null;
    const source = inner?.input ?? outer.input;
    const dtype = outer.dtype ?? inner?.dtype ?? source.dtype;
    if (dtype !== "f32") return null;
    const hold = (value: number): number => Math.min(Math.max(value, outer.min), outer.max);
    const [min, max] = inner ? [hold(inner.min), hold(inner.max)] : [outer.min, outer.max];
    if (min === Number.NEGATIVE_INFINITY && max === Number.POSITIVE_INFINITY) return source;
    const becomesRelu = min === 0 && max === Number.POSITIVE_INFINITY && root.op !== "Relu";
    return inner || becomesRelu ? createClip(context, source, { min, max, dtype }, root) : null;
  },
});
