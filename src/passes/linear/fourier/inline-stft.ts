/**
 *   STFT(x: [b,l,1], step, window: [n])  =>  Conv<strides=[step]>(x as [b,1,l], window * cosines and sines: [2 * bins,1,n]), with the
 *                                            axes of STFT: [b,frames,bins,2]
 *
 * For long windows in two steps (see stft-by-factors.ts). Parts become planes, as those of `inline-dft`. ONNX Runtime transforms one
 * frame after the other: 1.2 ms for 97 frames of 512 samples, 5.3 ms for 400 samples, and 0.21 ms so (1.30, Zen 3, 1 thread).
 */
import { attr, type Dim, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { LabelledNodes, single } from "../labelled.js";
import { type FramedSignal, framedSignalOf, rowsOf, transformOf } from "./framed-signal.js";
import { StftSteps } from "./stft-by-factors.js";
import { transformMatrix } from "./transform.js";
import { fasterFactors, isFasterAsMatrix } from "./transform-cost.js";

export const inlineStft = defineRewrite({
  name: "inline-stft",
  summary: "Write an STFT as a Conv with its window, cosines and sines, or as two steps of that",
  numerics: "rounding",
  roots: ["STFT"],
  // The runtime tells no shape of an STFT whose signal has a length that is not known.
  revealsTypes: "for the next round",
  rewrite(stft, context) {
    const framed = framedSignalOf(stft, context.shared(sizeFacts));
    if (!framed) return null;
    const transform = transformOf(framed);
    const factors = fasterFactors(transform, rowsOf(framed), (first) => framed.step % first === 0);
    const steps = factors && new StftSteps(framed, factors, context);
    const planes = steps?.planes();
    if (steps && planes) return steps.nodes.transpose(planes, ["batch", "frame", "bin", "part"]).value;
    if (!isFasterAsMatrix(transform, rowsOf(framed)))
      return context.skip("the runtime's own transform is faster for this length");
    return stftByMatrix(framed, context);
  },
});

function stftByMatrix(framed: FramedSignal, context: RewriteContext): Value | null {
  const { signal, shape, axis, frames, step, window, bins } = framed;
  const [batch, samples] = [shape[0]!, shape[axis]!];
  const known = new Map<string, Dim>([
    ["batch", batch],
    ["one", 1],
    ["sample", samples],
    ["frame", frames],
    ["part", 2],
    ["place", bins],
  ]);
  const nodes = new LabelledNodes(context, { known, unsure: new Set() });
  const places = window.length;
  const weights = transformMatrix(transformOf(framed));
  const weight = Tensor.f32(
    [2 * bins, 1, places],
    weights.map((value, i) => value * window[i % places]!),
  );
  const attributes = { kernel_shape: attr.ints([places]), strides: attr.ints([step]) };
  const types = [{ dtype: "f32", shape: [batch, 2 * bins, frames] }] as const;
  const inputs = [channelOf(framed, nodes), context.constant(`${signal.label}/circle`, weight)];
  const planes = context.create("Conv", inputs, attributes, { types }).output;
  const labels = ["batch", "part", "place", "frame"];
  const wanted = ["batch", "frame", "place", "part"];
  const spectrum = nodes.regroup(planes, [["batch"], ["part", "place"], ["frame"]], single(labels));
  if (spectrum) return nodes.transpose({ value: spectrum, labels }, wanted).value;
  // Two sizes that are not known can be kept where they stand in front.
  const rows = context.create("Transpose", [planes], { perm: attr.ints([0, 2, 1]) }).output;
  const inFront = ["batch", "frame", "part", "place"];
  const split = nodes.regroup(rows, [["batch"], ["frame"], ["part", "place"]], single(inFront));
  return split && nodes.transpose({ value: split, labels: inFront }, wanted).value;
}

/** The signal as [batch, 1, samples]. */
function channelOf({ signal, shape }: FramedSignal, nodes: LabelledNodes): Value {
  const { create, constant } = nodes.context;
  if (shape.length === 3)
    return nodes.transpose({ value: signal, labels: ["batch", "sample", "one"] }, ["batch", "one", "sample"]).value;
  const axes = constant(`${signal.label}/axes`, Tensor.i64([1], [1]));
  const types = [{ dtype: "f32", shape: [shape[0]!, 1, shape[1]!] }] as const;
  return create("Unsqueeze", [signal, axes], {}, { types }).output;
}
