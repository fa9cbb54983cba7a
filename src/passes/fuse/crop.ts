/**
 * Slice(Conv<pads=[2, 2]>(x, W), 0:-2)             =>  Conv<pads=[2, 0]>(x, W)
 * Slice(ConvTranspose<pads=[0, 0]>(x, W), 1:-1)    =>  ConvTranspose<pads=[1, 1]>(x, W)
 *
 * What is cut off at an end of a spatial axis need not be computed: causal convolutions are
 * written so. A Conv can lose what its padding has made. Something must be left of an input of any
 * size: a Slice may give nothing, a Conv that would is refused.
 */
import { attr, type Node, type Shape } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown, normalizeAxes, soleProducer } from "../../rewrite/match.js";
import { boundsOf, stretchOf, TO_THE_END } from "../layout/slice-bounds.js";

export const fuseCrop = defineRewrite({
  name: "fuse-crop",
  summary: "Pad a Conv by less, or a ConvTranspose by more, instead of cutting off what it gives",
  numerics: "rounding",
  roots: ["Slice"],
  rewrite(slice, { create, skip }) {
    const conv = soleProducer(slice.inputs[0], "Conv") ?? soleProducer(slice.inputs[0], "ConvTranspose");
    const weight = conv?.inputs[1]?.shape;
    if (!conv || !weight || weight.length < 3 || !weight.every(isKnown)) return null;
    const spatial = weight.length - 2;
    const cut = cutOf(slice, conv.output.shape, spatial);
    if (typeof cut === "string") return skip(cut);
    const autoPad = conv.string("auto_pad", "NOTSET");
    if (autoPad !== "NOTSET" && autoPad !== "VALID") return skip(`auto_pad is ${autoPad}`);
    if (conv.attributes.has("output_shape")) return skip("the padding follows from the size of the output");
    const window = windowOf(conv, weight.slice(2) as number[]);
    const pads = window.pads.map((pad, i) =>
      conv.op === "Conv" ? pad - cut[i]! * window.strides[i % spatial]! : pad + cut[i]!,
    );
    if (pads.some((pad) => pad < 0)) return skip("more is cut off than the padding has made");
    for (let axis = 0; axis < spatial; axis++) {
      if (isKnown(conv.output.shape?.[axis + 2])) continue;
      const around = pads[axis]! + pads[axis + spatial]!;
      const reach = window.reach[axis]!;
      const isLeft = conv.op === "Conv" ? around >= reach : reach + 1 + window.more[axis]! > around;
      if (!isLeft) return skip("of a small input nothing is left");
    }
    const attributes = new Map(conv.attributes);
    attributes.delete("auto_pad");
    attributes.set("pads", attr.ints(pads));
    return create(conv.op, conv.inputs, attributes, { like: conv, types: [slice.output.type] });
  },
});

/** Elements cut off before and after each spatial axis, in the order of `pads`; or why they are not known. */
function cutOf(slice: Node, shape: Shape | null, spatial: number): number[] | string {
  const bounds = boundsOf(slice);
  const axes = bounds && normalizeAxes(bounds.axes, spatial + 2);
  if (!bounds || !axes) return "the bounds are computed at run time";
  const cut = new Array<number>(2 * spatial).fill(0);
  for (const [i, axis] of axes.entries()) {
    const [start, end, step] = [bounds.starts[i]!, bounds.ends[i]!, bounds.steps[i]!];
    if (step !== 1n) return "the Slice takes only some of the elements";
    const size = shape?.[axis];
    const place = axis - 2;
    if (isKnown(size)) {
      const stretch = stretchOf(start, end, step, size);
      if (!stretch || stretch.end === stretch.start) return "nothing is left";
      if (place < 0 && (stretch.start > 0 || stretch.end < size)) return "the batch or channel axis is cut";
      if (place < 0) continue;
      cut[place] = stretch.start;
      cut[place + spatial] = size - stretch.end;
      continue;
    }
    if (place < 0) return "the batch or channel axis is cut";
    // From the front a start is a number of elements, from the back an end is.
    if (start < 0n || (end >= 0n && end < TO_THE_END)) return "how much is cut off depends on the size";
    cut[place] = Number(start);
    cut[place + spatial] = end < 0n ? Number(-end) : 0;
  }
  return cut;
}

interface Window {
  readonly pads: readonly number[];
  readonly strides: readonly number[];
  /** From the first to the last element that the kernel covers. */
  readonly reach: readonly number[];
  /** What a ConvTranspose appends to its output. */
  readonly more: readonly number[];
}

function windowOf(conv: Node, kernel: readonly number[]): Window {
  const dilations = conv.ints("dilations") ?? kernel.map(() => 1);
  const isPadded = conv.string("auto_pad", "NOTSET") === "NOTSET";
  return {
    pads: (isPadded && conv.ints("pads")) || kernel.flatMap(() => [0, 0]),
    strides: conv.ints("strides") ?? kernel.map(() => 1),
    reach: kernel.map((size, i) => (size - 1) * dilations[i]!),
    more: conv.ints("output_padding") ?? kernel.map(() => 0),
  };
}
