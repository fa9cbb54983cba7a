/**
 * Conv and ConvTranspose of any rank and group. Both hold to one pair: y is cut from x by windows, so that
 *
 *   Conv: dx = ConvTranspose(dy, w), and ConvTranspose: dx = Conv(dy, w)
 *   dw[o, i, k] = sum over positions p of  dy[o, p]  x[i, p * stride + k * dilation - pad]
 *
 * with the parts of x and y exchanged for ConvTranspose. dw is one product per position of the kernel.
 */
import { attr, elementCount, type Value } from "../../../ir/index.js";
import { dimsOf, type Formula } from "../formula.js";
import type { GradientRule, Site } from "../gradient-rule.js";
import { puttingBack, sameSide, type Windows, windowsOf } from "../window.js";

const convolution: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [x, w, y] = [site.dims(0), site.dims(1), dimsOf(site.y)];
  const group = node.int("group", 1);
  const windows = windowsOf(node, w.slice(2), x.slice(2), y.slice(2));
  return [
    site.ifWanted(0, () =>
      f.op("ConvTranspose", [dy, site.input(1)], puttingBack(windows, group, x.slice(2), y.slice(2))),
    ),
    site.ifWanted(1, () => f.reshape(weightGradient(f, site.input(0), x, dy, y, windows, group), w)),
    perChannel(site, 2),
  ];
};

const convTranspose: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [x, w, y] = [site.dims(0), site.dims(1), dimsOf(site.y)];
  const group = node.int("group", 1);
  const windows = windowsOfTranspose(site, w.slice(2), x.slice(2), y.slice(2));
  const conv = {
    group: attr.int(group),
    strides: attr.ints(windows.strides),
    dilations: attr.ints(windows.dilations),
    kernel_shape: attr.ints(windows.kernel),
    pads: attr.ints([...windows.before, ...windows.after]),
  };
  return [
    site.ifWanted(0, () => f.op("Conv", [dy, site.input(1)], conv)),
    site.ifWanted(1, () => f.reshape(weightGradient(f, dy, y, site.input(0), x, windows, group), w)),
    perChannel(site, 2),
  ];
};

/** What a ConvTranspose cuts off its result, from the sizes that came out: `output_shape` and `auto_pad` say it in their own ways. */
function windowsOfTranspose(
  { node }: Site,
  kernel: readonly number[],
  input: readonly number[],
  output: readonly number[],
): Windows {
  const plain = windowsOf(node, kernel, output, input);
  if (!node.attributes.has("output_shape") && node.string("auto_pad", "NOTSET") === "NOTSET") return plain;
  const { strides, dilations } = plain;
  const extra = node.ints("output_padding") ?? kernel.map(() => 0);
  const total = kernel.map((size, i) =>
    Math.max(0, (input[i]! - 1) * strides[i]! + extra[i]! + (size - 1) * dilations[i]! + 1 - output[i]!),
  );
  const half = total.map((each) => each >> 1);
  const rest = total.map((each, i) => each - half[i]!);
  const [before, after] = sameSide(node) === "upper" ? [half, rest] : [rest, half];
  return { ...plain, before, after };
}

/** The gradient of a bias: one per channel. */
function perChannel(site: Site, index: number): Value | null {
  if (!site.optional(index)) return null;
  const axes = dimsOf(site.y).flatMap((_, axis) => (axis === 1 ? [] : [axis]));
  return site.ifWanted(index, () => site.f.sum(site.dy, axes, false));
}

/**
 * @param wide what windows are cut from, [N, channels in, ...sizes]
 * @param narrow one element per window, [N, channels out, ...positions]
 * @returns [group * channels out of a group, channels in of a group, ...kernel] in its order
 */
function weightGradient(
  f: Formula,
  wide: Value,
  wideDims: readonly number[],
  narrow: Value,
  narrowDims: readonly number[],
  { kernel, strides, dilations, before, after }: Windows,
  group: number,
): Value {
  const [batch, channelsIn] = wideDims as [number, number];
  const channelsOut = narrowDims[1]!;
  const [inner, outer] = [channelsIn / group, channelsOut / group];
  const rank = kernel.length;
  const positions = narrowDims.slice(2);
  const rows = batch * elementCount(positions);
  const sizes = wideDims.slice(2).map((size, i) => size + before[i]! + after[i]!);
  const isPadded = [...before, ...after].some((pad) => pad > 0);
  const padded = isPadded ? f.op("Pad", [wide, f.integers([0, 0, ...before, 0, 0, ...after]), f.scalar(0)]) : wide;
  // [N, G, I, ...sizes] to [G, N, ...sizes, I], so that the rows of a product lie together.
  const last = Array.from({ length: rank }, (_, i) => 3 + i);
  const columns = f.transpose(f.reshape(padded, [batch, group, inner, ...sizes]), [1, 0, ...last, 2]);
  // [N, G, O, ...positions] to [G, O, N * positions]
  const grouped = f.reshape(narrow, [batch, group, outer, ...positions]);
  const left = f.reshape(f.transpose(grouped, [1, 2, 0, ...last]), [group, outer, rows]);
  const axes = kernel.map((_, i) => 2 + i);
  const taps = offsetsOf(kernel).map((offset) => {
    const starts = offset.map((at, i) => at * dilations[i]!);
    const ends = starts.map((start, i) => start + (positions[i]! - 1) * strides[i]! + 1);
    const isWhole = starts.every((start, i) => start === 0 && ends[i] === sizes[i] && strides[i] === 1);
    const cut = isWhole ? columns : f.slice(columns, starts, ends, axes, strides);
    return f.op("MatMul", [left, f.reshape(cut, [group, rows, inner])]);
  });
  if (taps.length === 1) return taps[0]!;
  const stacked = taps.map((tap) => f.reshape(tap, [group, outer, inner, 1]));
  return f.op("Concat", stacked, { axis: attr.int(3) });
}

/** Every position of a kernel, the last axis running fastest. */
function offsetsOf(kernel: readonly number[]): number[][] {
  return kernel.reduce<number[][]>(
    (all, size) => all.flatMap((offset) => Array.from({ length: size }, (_, at) => [...offset, at])),
    [[]],
  );
}

export const convolutions: Readonly<Record<string, GradientRule>> = { Conv: convolution, ConvTranspose: convTranspose };
