/**
 * An AveragePool whose windows all have the same number of elements is a Conv of each channel by itself, all weights alike. ONNX
 * Runtime's integer kernel for such a Conv takes a third to a fifteenth of the time of QLinearAveragePool, which adds up the
 * windows of a plane element by element.
 */
import { elementCount, type Node } from "../ir/index.js";

export interface WindowMean {
  readonly channels: number;
  /** One number for each spatial axis, in order. */
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Before each spatial axis, and then behind each. */
  readonly pads: readonly number[];
}

/** Null where windows differ, where channels are not known, and of a single window for each, which has as fast a kernel of its own. */
export function windowMeanOf(node: Node): WindowMean | null {
  const shape = node.inputs[0]?.shape;
  const channels = shape?.[1];
  const kernel = node.ints("kernel_shape");
  if (!node.is("AveragePool") || !kernel || typeof channels !== "number") return null;
  if (shape!.length !== kernel.length + 2 || kernel.length > 2 || channels < 1) return null;
  if (node.output.shape?.slice(2).every((size) => size === 1)) return null;
  const ones = kernel.map(() => 1);
  const zeros = [...kernel, ...kernel].map(() => 0);
  const autoPad = node.string("auto_pad", "NOTSET");
  if (autoPad !== "NOTSET" && autoPad !== "VALID") return null;
  const pads = (autoPad === "NOTSET" && node.ints("pads")) || zeros;
  const isWhole = node.int("count_include_pad", 0) !== 0 || pads.every((pad) => pad === 0);
  const window = {
    channels,
    kernel,
    strides: node.ints("strides") ?? ones,
    dilations: node.ints("dilations") ?? ones,
    pads,
  };
  return isWhole && (node.int("ceil_mode", 0) === 0 || isExact(window, shape!.slice(2))) ? window : null;
}

/** Whether rounding sizes up gives no window that reaches further than padding does. */
const isExact = ({ kernel, strides, dilations, pads }: WindowMean, sizes: readonly unknown[]): boolean =>
  sizes.every((size, axis) => {
    const reach = (kernel[axis]! - 1) * dilations[axis]! + 1;
    const padded = Number(size) + pads[axis]! + pads[kernel.length + axis]!;
    return typeof size === "number" && (padded - reach) % strides[axis]! === 0;
  });

export const windowSize = ({ kernel }: WindowMean): number => elementCount(kernel);
