/**
 *   Conv(x: [N,C,L], W: [C,1,k])  =>  Squeeze(Conv(Unsqueeze(x, 2), W: [C,1,1,k]), 2)       of groups, with long kernels
 *
 * The same sums. ONNX Runtime's CPU has kernels for groups of channels side by side in planes, and none along lines: depthwise,
 * [256,1,9] on 400 elements 0.98 -> 0.37 ns each, [512,1,63] 7.2 -> 1.4; 16 groups of 16, 31 long, 9.3 -> 6.7 (1.32, Zen 5, 1 thread).
 * Where both are integers they take as long.
 */
import { type Attribute, attr, Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";

/** Shorter ones are as fast along a line where that is long. */
const LEAST_KERNEL = 5;
/** Of the axis that is put in. */
const AXIS = 2;

export const liftGroupedConv = defineRewrite({
  name: "lift-grouped-conv",
  summary: "Convolve groups along a line as those of a plane of one row",
  numerics: "rounding",
  roots: ["Conv"],
  // Axes are an input of Squeeze.
  minOpset: 13,
  onlyOnCpu: "its kernels for groups are those of planes",
  rewrite(conv, { create, constant }) {
    const [x, weight, bias] = conv.inputs;
    const kernel = weight?.constant;
    if (!x || kernel?.dtype !== "f32" || kernel.dims.length !== 3) return null;
    const [channels, own, length] = kernel.dims as [number, number, number];
    if (conv.int("group", 1) < 2 || length < LEAST_KERNEL) return null;
    const attributes = new Map(conv.attributes);
    const put = (name: string, in2d: (value: readonly number[]) => readonly number[]): void => {
      const value = conv.ints(name);
      if (value) attributes.set(name, attr.ints(in2d(value)) as Attribute);
    };
    for (const name of ["kernel_shape", "strides", "dilations"]) put(name, ([along]) => [1, along!]);
    put("pads", ([before, after]) => [0, before!, 0, after!]);
    const axis = constant(`${conv.output.label}/axis`, Tensor.i64([1], [AXIS]));
    const plane = constant(`${weight!.label}/plane`, kernel.withDims([channels, own, 1, length]));
    const inputs = [create("Unsqueeze", [x, axis]).output, plane, ...(bias ? [bias] : [])];
    const result = create("Conv", inputs, attributes, { like: conv }).output;
    return create("Squeeze", [result, axis]);
  },
});
