/**
 * What a linear node does to its input, in one form for Conv, Gemm and MatMul, and for the
 * arithmetic that scales channels: each output channel is a sum over input channels of its
 * group, and for a Conv over the places of a window.
 */
import type { Node, Value } from "../../ir/index.js";
import { floatsOf, type Linear, linearOf } from "../fuse/linear.js";
import { affineOf } from "./affine.js";
import { vectorAlong } from "./grid.js";

export interface Stencil {
  readonly x: Value;
  /** null for arithmetic. */
  readonly linear: Linear | null;
  readonly outputs: number;
  readonly inputs: number;
  readonly group: number;
  /** Per spatial axis; no axes for a matrix. */
  readonly window: readonly Window[];
  /** [outputs, inputs / group, ...kernel] */
  readonly weight: () => Float64Array;
  /** [outputs] */
  readonly bias: Float64Array;
}

/** Output place o reads the input places o * stride + begin + k * dilation, for k below size. */
export interface Window {
  readonly size: number;
  readonly stride: number;
  readonly dilation: number;
  readonly begin: number;
  /** How much larger the padded input is than what one window covers: two equal ones give outputs of equal size. */
  readonly slack: number;
}

/** A Conv, Gemm or MatMul with constant weight; null for others and those that cannot be read so. */
export function stencilOf(node: Node): Stencil | null {
  const x = node.inputs[0];
  if (!x || node.domain !== "" || !node.inputs[1]?.constant) return null;
  if (node.op !== "Conv" && node.op !== "Gemm" && node.op !== "MatMul") return null;
  if (node.int("transA", 0) !== 0) return null;
  const linear = linearOf(node);
  if (typeof linear === "string") return null;
  const { channels: outputs, bias, weightTensor } = linear;
  const group = node.int("group", 1);
  if (node.op === "Conv") {
    const window = windowOf(node, weightTensor.dims.slice(2));
    const weight = (): Float64Array => Float64Array.from(floatsOf(weightTensor)!);
    return window && { x, linear, outputs, inputs: weightTensor.dims[1]! * group, group, window, weight, bias };
  }
  const inputs = weightTensor.elementCount / outputs;
  const alpha = node.float("alpha", 1);
  const isTransposed = node.int("transB", 0) !== 0;
  const weight = (): Float64Array => {
    const data = floatsOf(weightTensor)!;
    return Float64Array.from(
      data,
      (_, i) => alpha * data[isTransposed ? i : (i % inputs) * outputs + Math.floor(i / inputs)]!,
    );
  };
  return { x, linear, outputs, inputs, group, window: [], weight, bias };
}

/** One for each spatial axis of a Conv; null where its padding follows from the size of what it reads. */
export function windowOf(conv: Node, kernel: readonly number[]): Window[] | null {
  const autoPad = conv.string("auto_pad", "NOTSET");
  if (autoPad !== "NOTSET" && autoPad !== "VALID") return null;
  const pads = (autoPad === "NOTSET" && conv.ints("pads")) || new Array<number>(2 * kernel.length).fill(0);
  const [strides, dilations] = [conv.ints("strides"), conv.ints("dilations")];
  return kernel.map((size, i) => {
    const [stride, dilation] = [strides?.[i] ?? 1, dilations?.[i] ?? 1];
    const [before, after] = [pads[i]!, pads[i + kernel.length]!];
    return { size, stride, dilation, begin: -before, slack: before + after - dilation * (size - 1) };
  });
}

/** x * s + t, one number per channel, as a stencil beside `like`; null for what is no such thing. */
export function stencilOfArithmetic(node: Node, like: Stencil, opset: number): Stencil | null {
  const own = affineOf(node, opset);
  const { inputs: channels } = like;
  if (!own || typeof own === "string" || own.x !== like.x || like.outputs !== channels) return null;
  const rank = own.x.shape!.length;
  const axis = like.window.length > 0 ? 1 : rank - 1;
  if (like.window.length > 0 && rank !== like.window.length + 2) return null;
  const scale = own.affine.scale ? vectorAlong(own.affine.scale, axis, channels) : new Float64Array(channels).fill(1);
  const shift = own.affine.shift ? vectorAlong(own.affine.shift, axis, channels) : new Float64Array(channels);
  if (!scale || !shift) return null;
  return {
    x: own.x,
    linear: null,
    outputs: channels,
    inputs: channels,
    group: channels,
    window: like.window.map(() => ({ size: 1, stride: 1, dilation: 1, begin: 0, slack: 0 })),
    weight: () => scale,
    bias: shift,
  };
}
