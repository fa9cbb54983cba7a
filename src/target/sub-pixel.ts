/**
 * A ConvTranspose is a Conv with as many outputs for each place of its input as it writes there, which are then put next
 * to each other: a sub-pixel convolution (Shi et al., "Is the deconvolution layer the same as a convolutional layer?",
 * arXiv:1609.07009). ONNX Runtime's CPU has integer kernels for all that it takes, and none for ConvTranspose.
 */
import type { Node } from "../ir/index.js";
import { isQuantizedBehind } from "./quantized-behind.js";

/** One number for each spatial axis, in order. */
type PerAxis = readonly number[];

export interface SubPixel {
  /** Output channels of the ConvTranspose. */
  readonly channels: number;
  /** Outputs next to each other that come of one place of the Conv. */
  readonly strides: PerAxis;
  /** Size of the Conv's kernel: those of the ConvTranspose, filled up to whole strides with zeros, taken apart. */
  readonly kernel: PerAxis;
  /** Of the Conv: before each axis, and then behind each. */
  readonly pads: readonly number[];
  /** What is left to cut off the outputs, less than one stride: before each axis, and behind it. */
  readonly cutBefore: PerAxis;
  readonly cutBehind: PerAxis;
}

/** How a ConvTranspose with constant weights is written so; null where it is not. */
export function subPixelOf(node: Node): SubPixel | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (!node.is("ConvTranspose") || !dims || dims.length < 3) return null;
  const [, channels, ...window] = dims as [number, number, ...number[]];
  const ones = window.map(() => 1);
  if (node.int("group", 1) !== 1 || node.attributes.has("output_shape")) return null;
  const autoPad = node.string("auto_pad", "NOTSET");
  if (autoPad !== "NOTSET" && autoPad !== "VALID") return null;
  if ((node.ints("dilations") ?? ones).some((dilation) => dilation !== 1)) return null;
  const strides = node.ints("strides") ?? ones;
  const zeros = [...window, ...window].map(() => 0);
  const pads = autoPad === "VALID" ? zeros : (node.ints("pads") ?? zeros);
  const more = node.ints("output_padding") ?? zeros;
  const kernel = window.map((size, axis) => Math.ceil(size / strides[axis]!));
  const before = window.map((_, axis) => pads[axis]!);
  const behind = window.map(
    (size, axis) => pads[window.length + axis]! + kernel[axis]! * strides[axis]! - size - more[axis]!,
  );
  const padsOf = (cut: PerAxis): number[] =>
    cut.map((size, axis) => kernel[axis]! - 1 - Math.floor(size / strides[axis]!));
  const convPads = [...padsOf(before), ...padsOf(behind)];
  if ([...before, ...behind, ...convPads].some((size) => size < 0)) return null;
  const restOf = (cut: PerAxis): number[] => cut.map((size, axis) => size % strides[axis]!);
  return { channels, strides, kernel, pads: convPads, cutBefore: restOf(before), cutBehind: restOf(behind) };
}

/** The same as integers, of planes of known rank: pairs that are there already would be in the way of what puts outputs next to each other. */
export const runsAsSubPixels = (node: Node): boolean =>
  !isQuantizedBehind(node.output) &&
  node.inputs[0]?.shape?.length === node.inputs[1]?.shape?.length &&
  subPixelOf(node) !== null;
