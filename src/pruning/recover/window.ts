/** Where the windows of a Conv or a pool lie, whichever way the node spells it. */
import { type Attribute, attr, type Node } from "../../ir/index.js";
import { NoGradient } from "./formula.js";

export interface Windows {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Before the first and after the last element of each axis. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * @param input sizes of the spatial axes that windows are cut from
 * @param output how many windows there are along each
 */
export function windowsOf(
  node: Node,
  kernel: readonly number[],
  input: readonly number[],
  output: readonly number[],
): Windows {
  const strides = node.ints("strides") ?? kernel.map(() => 1);
  const dilations = node.ints("dilations") ?? kernel.map(() => 1);
  const reach = kernel.map((size, i) => (output[i]! - 1) * strides[i]! + (size - 1) * dilations[i]! + 1);
  const same = sameSide(node);
  if (same) {
    const total = reach.map((size, i) => Math.max(0, size - input[i]!));
    const small = total.map((each) => each >> 1);
    const large = total.map((each, i) => each - small[i]!);
    const [before, after] = same === "upper" ? [small, large] : [large, small];
    return { kernel, strides, dilations, before, after };
  }
  const pads =
    (node.string("auto_pad", "NOTSET") === "NOTSET" ? node.ints("pads") : null) ?? kernel.flatMap(() => [0, 0]);
  if (pads.some((pad) => pad < 0)) throw new NoGradient("it pads by less than nothing");
  return { kernel, strides, dilations, before: pads.slice(0, kernel.length), after: pads.slice(kernel.length) };
}

/** At which end an odd element of padding goes, where the node pads to the same size. */
export function sameSide(node: Node): "upper" | "lower" | null {
  const side = /^SAME_(UPPER|LOWER)$/.exec(node.string("auto_pad", ""))?.[1];
  return side === undefined ? null : side === "UPPER" ? "upper" : "lower";
}

/**
 * Attributes of the ConvTranspose that puts every window back where it was cut from, into `input` elements.
 * Throws NoGradient where the last window reached beyond the padding (`ceil_mode`).
 */
export function puttingBack(
  windows: Windows,
  group: number,
  input: readonly number[],
  output: readonly number[],
): Record<string, Attribute> {
  const { kernel, strides, dilations, before, after } = windows;
  const rest = input.map(
    (size, i) =>
      size - ((output[i]! - 1) * strides[i]! + (kernel[i]! - 1) * dilations[i]! + 1 - before[i]! - after[i]!),
  );
  if (rest.some((each) => each < 0)) throw new NoGradient("its last window reaches beyond what it is cut from");
  return {
    group: attr.int(group),
    strides: attr.ints(strides),
    dilations: attr.ints(dilations),
    kernel_shape: attr.ints(kernel),
    pads: attr.ints([...before, ...after]),
    output_padding: attr.ints(rest),
  };
}
