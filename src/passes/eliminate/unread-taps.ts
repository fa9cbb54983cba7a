/**
 * Conv<dilations=[36, 36], pads=[36, 36, 36, 36]>(x: [N,C,33,33], W: [M,C,3,3])  =>  Conv(x, the middle of W: [M,C,1,1])
 *
 * Rows and columns at the edges of a kernel that meet nothing but padding, wherever it stands: what dilated Convs (Atrous Spatial
 * Pyramid Pooling) become on small maps. Float kernels of ONNX Runtime step over padding, those for integers multiply it.
 */
import { type Attribute, attr, type Dim } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { isMovable, stridedTensor, stridesOf } from "../layout/permuted-tensor.js";
import { type Window, windowOf } from "../linear/stencil.js";

export const eliminateUnreadTaps = defineRewrite({
  name: "eliminate-unread-taps",
  summary: "Take from the kernel of a Conv what meets only padding",
  numerics: "rounding",
  roots: ["Conv"],
  rewrite(conv, { create, constant }) {
    const [x, weight] = conv.inputs;
    const tensor = weight?.constant;
    if (!x?.shape || !tensor || !isMovable(tensor)) return null;
    const [outputs = 0, inputs = 0, ...kernel] = tensor.dims;
    const axes = windowOf(conv, kernel)?.map((window, axis) => tapsRead(window, x.shape![axis + 2]));
    if (!axes || axes.every(({ first, last }, axis) => first === 0 && last === kernel[axis]! - 1)) return null;
    const left = axes.map(({ first, last }) => last - first + 1);
    const steps = stridesOf(tensor.dims);
    const from = axes.reduce((sum, { first }, axis) => sum + first * steps[axis + 2]!, 0);
    const taken = stridedTensor(tensor, { dims: [outputs, inputs, ...left], from, steps });
    const attributes = new Map<string, Attribute>(conv.attributes);
    attributes.set("kernel_shape", attr.ints(left));
    attributes.set("dilations", attr.ints(axes.map(({ dilation }, axis) => (left[axis] === 1 ? 1 : dilation))));
    attributes.set("pads", attr.ints([...axes.map(({ before }) => before), ...axes.map(({ behind }) => behind)]));
    const rest = conv.inputs.slice(2);
    return create("Conv", [x, constant(weight.label, taken), ...rest], attributes, { types: [conv.output.type] });
  },
});

interface Taps {
  readonly first: number;
  readonly last: number;
  readonly dilation: number;
  /** Padding that is left. */
  readonly before: number;
  readonly behind: number;
}

/** Of one axis of the kernel; all of them where the size of the map is not known. */
function tapsRead({ size: taps, stride, dilation, begin, slack }: Window, size: Dim | undefined): Taps {
  const before = -begin;
  const behind = slack + dilation * (taps - 1) - before;
  let [first, last] = [0, taps - 1];
  const places = isKnown(size) ? Math.floor((size + slack - 1) / stride) + 1 : 0;
  if (isKnown(size) && places > 0) {
    const isBefore = (tap: number): boolean => tap * dilation - before + (places - 1) * stride < 0;
    const isBehind = (tap: number): boolean => tap * dilation - before >= size;
    // A Conv pads by no less than nothing.
    while (first < last && isBefore(first) && (first + 1) * dilation <= before) first++;
    while (last > first && isBehind(last) && (taps - last) * dilation <= behind) last--;
  }
  return {
    ...{ first, last, dilation },
    ...{ before: before - first * dilation, behind: behind - (taps - 1 - last) * dilation },
  };
}
