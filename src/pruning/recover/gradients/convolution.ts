/**
 * Conv and ConvTranspose of any rank and group. Both hold to one pair: y is cut from x by windows, so that
 *
 *   Conv: dx = ConvTranspose(dy, w), and ConvTranspose: dx = Conv(dy, w)
 *   dw[o, i, k] = sum over positions p of  dy[o, p]  x[i, p * stride + k * dilation - pad]
 *
 * with the parts of x and y exchanged for ConvTranspose.
 */
import { attr, type Value } from "../../../ir/index.js";
import { dimsOf } from "../formula.js";
import type { GradientRule, Site } from "../gradient-rule.js";
import { puttingBack, sameSide, type Windows, windowsOf } from "../window.js";
import { weightGradient } from "./weight-gradient.js";

const convolution: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [x, w, y] = [site.dims(0), site.dims(1), dimsOf(site.y)];
  const group = node.int("group", 1);
  const windows = windowsOf(node, w.slice(2), x.slice(2), y.slice(2));
  return [
    site.ifWanted(0, () =>
      f.op("ConvTranspose", [dy, site.input(1)], puttingBack(windows, group, x.slice(2), y.slice(2))),
    ),
    site.ifWanted(1, () =>
      f.reshape(weightGradient(f, { value: site.input(0), dims: x }, { value: dy, dims: y }, windows, group), w),
    ),
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
    site.ifWanted(1, () =>
      f.reshape(weightGradient(f, { value: dy, dims: y }, { value: site.input(0), dims: x }, windows, group), w),
    ),
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

export const convolutions: Readonly<Record<string, GradientRule>> = { Conv: convolution, ConvTranspose: convTranspose };
