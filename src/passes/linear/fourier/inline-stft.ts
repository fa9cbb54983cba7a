/**
 *   STFT(x: [b,l,1], step, window: [n])  =>  Conv<strides=[step]>(x as [b,1,l], window * cosines and sines: [2 * bins,1,n]), with the
 *                                            axes of STFT: [b,frames,bins,2]
 *
 * Parts become planes, as those of `inline-dft`. ONNX Runtime transforms one frame after the other.
 */
import { attr, type Dim, type Node, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { constantOf, constantScalar, isKnown } from "../../../rewrite/match.js";
import { floatsOf } from "../../fuse/linear.js";
import { LabelledNodes, single } from "../labelled.js";
import { isFasterAsMatrix, type Transform, transformMatrix } from "./transform.js";

export const inlineStft = defineRewrite({
  name: "inline-stft",
  summary: "Write an STFT as a Conv with its window, cosines and sines",
  numerics: "rounding",
  roots: ["STFT"],
  rewrite(stft, context) {
    const form = formOf(stft);
    if (!form) return null;
    const { batch, samples, step, window, bins } = form;
    const length = window.length;
    const frames = isKnown(samples) ? Math.floor((samples - length) / step) + 1 : null;
    const transform = {
      length,
      inverse: false,
      from: { parts: 1, places: length },
      to: { parts: 2, places: bins },
    } as const;
    // Of a signal of unknown length there are many.
    const rows = frames === null ? Number.POSITIVE_INFINITY : frames * (isKnown(batch) ? batch : 1);
    if (rows < 1) return null;
    if (!isFasterAsMatrix(transform, rows))
      return context.skip("the runtime's own transform is faster for this length");
    return transformed(form, transform, frames, context);
  },
});

interface Form {
  /** [batch, samples], or with an axis of 1 behind. */
  readonly signal: Value;
  readonly batch: Dim;
  readonly samples: Dim;
  readonly step: number;
  readonly window: ArrayLike<number>;
  readonly bins: number;
}

/** null where the signal is complex, or anything that the weights depend on is computed. */
function formOf(stft: Node): Form | null {
  const [signal, step, window, length] = stft.inputs;
  if (!signal?.shape || signal.dtype !== "f32") return null;
  const [batch, samples, ...parts] = signal.shape;
  if (batch === undefined || samples === undefined || parts.some((size) => size !== 1) || parts.length > 1) return null;
  const taps = window ? windowOf(window) : Array.from({ length: constantScalar(length) ?? 0 }, () => 1);
  const every = constantScalar(step);
  if (!taps || taps.length === 0 || every === null || every < 1) return null;
  if (length && constantScalar(length) !== taps.length) return null;
  const bins = stft.int("onesided", 1) === 0 ? taps.length : Math.floor(taps.length / 2) + 1;
  return { signal, batch, samples, step: every, window: taps, bins };
}

function windowOf(window: Value): ArrayLike<number> | null {
  const tensor = constantOf(window);
  return tensor?.dims.length === 1 ? floatsOf(tensor) : null;
}

function transformed(form: Form, transform: Transform, frames: Dim, context: RewriteContext): Value | null {
  const { signal, batch, samples, step, window, bins } = form;
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
  const weights = transformMatrix(transform, ["part", "place", "givenPlace", "givenPart"]);
  const weight = Tensor.f32(
    [2 * bins, 1, places],
    weights.map((value, i) => value * window[i % places]!),
  );
  const attributes = { kernel_shape: attr.ints([places]), strides: attr.ints([step]) };
  const types = [{ dtype: "f32", shape: [batch, 2 * bins, frames] }] as const;
  const inputs = [rowOf(form, nodes), context.constant(`${signal.label}/circle`, weight)];
  const planes = context.create("Conv", inputs, attributes, { types }).output;
  const groups = [["batch"], ["part", "place"], ["frame"]];
  const labels = ["batch", "part", "place", "frame"];
  const wanted = ["batch", "frame", "place", "part"];
  const spectrum = nodes.regroup(planes, groups, single(labels));
  if (spectrum) return nodes.transpose({ value: spectrum, labels }, wanted).value;
  // Two sizes that are not known can be kept where they stand in front.
  const perm = attr.ints([0, 2, 1]);
  const rows = context.create("Transpose", [planes], { perm }).output;
  const inFront = ["batch", "frame", "part", "place"];
  const split = nodes.regroup(rows, [["batch"], ["frame"], ["part", "place"]], single(inFront));
  return split && nodes.transpose({ value: split, labels: inFront }, wanted).value;
}

/** The signal as [batch, 1, samples]. */
function rowOf({ signal, batch, samples }: Form, nodes: LabelledNodes): Value {
  const { create, constant } = nodes.context;
  if (signal.shape!.length === 3)
    return nodes.transpose({ value: signal, labels: ["batch", "sample", "one"] }, ["batch", "one", "sample"]).value;
  const axes = constant(`${signal.label}/axes`, Tensor.i64([1], [1]));
  const types = [{ dtype: "f32", shape: [batch, 1, samples] }] as const;
  return create("Unsqueeze", [signal, axes], {}, { types }).output;
}
