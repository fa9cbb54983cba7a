/**
 *   LRN<size, alpha, beta, bias>(x: [N,C,H,W])  =>  x / (bias + alpha * AveragePool<[size,1,1]>(x * x: [N,1,C,H,W]))^beta
 *
 * The average counts the zeros in front of the first channel and behind the last. ONNX Runtime computes the power of each element by
 * a call of the C library: 20 ns each, and so 1.9 (0.75) to 2.7 (1.32, Zen 5, 1 thread; [1,64,56,56]).
 */
import { attr, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { powerOf } from "./inline-power.js";

/** Of planes: a pool takes none without, of batches it may. */
const hasElements = ({ shape }: Value): boolean =>
  shape?.length === 4 && shape.slice(1).every((size) => isKnown(size) && size > 0);

export const inlineLrn = defineRewrite({
  name: "inline-lrn",
  summary: "Compute local response normalization by a pool over channels",
  numerics: "rounding",
  roots: ["LRN"],
  // Pools count what they pad from here on.
  minOpset: 7,
  onlyOnCpu: "its kernel for LRN takes one element after the other",
  rewrite(lrn, { create, constant, opset }) {
    const x = lrn.inputs[0];
    const size = lrn.int("size", 0);
    const [alpha, beta, bias] = [lrn.float("alpha", 1e-4), lrn.float("beta", 0.75), lrn.float("bias", 1)];
    if (x?.dtype !== "f32" || !hasElements(x)) return null;
    // ONNX Runtime takes no other windows.
    if (size < 1 || size % 2 === 0) return null;
    // Nothing that has no power, and no division by zero.
    if (!(alpha > 0 && beta > 0 && bias > 0)) return null;
    const number = (name: string, value: number): Value =>
      constant(`${lrn.output.label}/${name}`, Tensor.f32([], [value]));
    const axis = opset >= 13 ? constant(`${lrn.output.label}/axis`, Tensor.i64([1], [1])) : null;
    const renamed = (op: string, value: Value): Value =>
      create(op, axis ? [value, axis] : [value], axis ? {} : { axes: attr.ints([1]) }).output;
    const beside = (size - 1) / 2;
    const squares = renamed("Unsqueeze", create("Mul", [x, x]).output);
    const window = {
      kernel_shape: attr.ints([size, 1, 1]),
      pads: attr.ints([beside, 0, 0, beside, 0, 0]),
      count_include_pad: attr.int(1),
    };
    const mean = renamed("Squeeze", create("AveragePool", [squares], window).output);
    const scaled = create("Mul", [mean, number("alpha", alpha)]).output;
    const sum = create("Add", [scaled, number("bias", bias)]).output;
    const power = powerOf(sum, beta, create);
    if (power) return create("Div", [x, power]);
    const logarithm = create("Mul", [create("Log", [sum]).output, number("beta", -beta)]).output;
    return create("Mul", [x, create("Exp", [logarithm]).output]);
  },
});
