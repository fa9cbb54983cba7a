/**
 * Axes of one element, over which there is nothing to reduce or to compare:
 *
 *   ReduceMean<axes>(x)   =>  x, or Squeeze(x) where the axes go        likewise Sum, Max, Min, Prod
 *   ArgMax<axis>(x)       =>  zeros
 *   Hardmax<axis>(x)      =>  ones
 *
 * Softmax and LogSoftmax stay: of NaN or infinity they give NaN, which no constant repeats.
 * Results of more than 64 KB stay: the constant would make the model larger.
 */
import { elementCount, isStatic, type Node, Tensor, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { tensorLike } from "./computed-tensor.js";
import { reducedAxes } from "./reduced-axes.js";

const REDUCTIONS = ["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"];
const LARGEST_BYTES = 64 << 10;

export const fuseSingleElement = defineRewrite({
  name: "fuse-single-element",
  summary: "Replace what runs over axes of one element by the element or a constant",
  numerics: "exact",
  roots: [...REDUCTIONS, "ArgMax", "ArgMin", "Hardmax"],
  // Hardmax went over several axes before.
  minOpset: 13,
  rewrite(node, context) {
    const x = node.inputs[0];
    const shape = x?.shape;
    if (!x || !shape) return null;
    if (REDUCTIONS.includes(node.op)) return reduced(node, x, context);
    const isArg = node.op === "ArgMax" || node.op === "ArgMin";
    const axis = node.int("axis", isArg ? 0 : -1);
    if (shape.at(axis) !== 1 || axis >= shape.length || axis < -shape.length) return null;
    const place = axis < 0 ? axis + shape.length : axis;
    const dims = isArg && node.int("keepdims", 1) !== 1 ? shape.filter((_, i) => i !== place) : shape;
    if (!isStatic(dims)) return context.skip("the size of the constant is not known");
    const count = elementCount(dims);
    if (count * 8 > LARGEST_BYTES) return context.skip("the constant would make the model larger");
    const tensor = isArg
      ? Tensor.i64(dims, Array<number>(count).fill(0))
      : x.dtype && tensorLike(x.dtype, dims, new Float64Array(count).fill(1));
    return tensor ? context.constant(node.output.label, tensor) : null;
  },
});

function reduced(node: Node, x: Value, { create, constant }: RewriteContext): Answer {
  const axes = reducedAxes(node);
  if (!axes || axes.length === 0 || axes.some((axis) => x.shape!.at(axis) !== 1)) return null;
  if (node.int("keepdims", 1) === 1) return x;
  return create("Squeeze", [x, constant("axes", Tensor.i64([axes.length], axes))]);
}
