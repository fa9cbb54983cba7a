/**
 *   Conv(x: [b,1,l], window * cosines), Conv(x, window * sines)  =>  both in two steps, as an STFT of long windows
 *
 * Likewise one Conv with cosines, then sines. So write libraries of spectra (torchlibrosa, nnAudio), Keras' STFTSpectrogram, and networks
 * for voices (Silero) what exporters had no operator for.
 */
import { attr, type Node, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { equalsElementwise, hasSameAttributes } from "../../../rewrite/match.js";
import type { Label, Labelled, LabelledNodes } from "../labelled.js";
import { framesOf, rowsOf, transformOf } from "./framed-signal.js";
import { StftSteps } from "./stft-by-factors.js";
import { fasterFactors } from "./transform-cost.js";
import { trigonometricRows, windowOf } from "./trigonometric-rows.js";

export const splitFourierConv = defineRewrite({
  name: "split-fourier-conv",
  summary: "Compute the Conv of a spectrum, whose weights are cosines and sines, in two steps",
  numerics: "rounding",
  roots: ["Conv"],
  // Of Shape with a start.
  minOpset: 15,
  onlyOnCpu: "its kernel for Conv takes as long as it has weights",
  rewrite(conv, context) {
    const waves = wavesOf(conv);
    if (!waves) return null;
    const half = waves.rows.length / 2;
    const whole = spectrumOf(waves, waves.rows.subarray(0, half), waves.rows.subarray(half), context);
    if (whole) return inForm(whole.nodes, whole.planes, ["part", "bin"], conv);
    const partners = partnersOf(conv);
    const isFirst = partners.length > 0 && windowOf(waves.rows, waves.length, "cosine") !== null;
    for (const { node, others } of partners) {
      const [cosines, sines] = isFirst ? [waves.rows, others.rows] : [others.rows, waves.rows];
      const spectrum = spectrumOf(waves, cosines, sines, context);
      const parts = spectrum && partsOf(spectrum, conv, context);
      if (!parts) continue;
      context.alsoReplace(node.output, parts[isFirst ? 1 : 0]!);
      return parts[isFirst ? 0 : 1]!;
    }
    return null;
  },
});

/** A Conv along the last axis of a signal. */
interface Waves {
  readonly signal: Value;
  readonly step: number;
  readonly length: number;
  /** [channels, length] */
  readonly rows: Float32Array;
}

/** Fewer weights of a row are few products, and may be like waves by chance. */
const LEAST_LENGTH = 32;
const LEAST_ROWS = 16;

function wavesOf(conv: Node): Waves | null {
  const [signal, weight, bias] = conv.inputs;
  const tensor = weight?.constant;
  const rank = tensor?.dims.length ?? 0;
  if (signal?.dtype !== "f32" || !tensor || signal.shape?.length !== rank || rank < 3 || rank > 4) return null;
  const [rows, ...others] = tensor.dims;
  const length = others.pop()!;
  if (length < LEAST_LENGTH || rows! < LEAST_ROWS || others.some((size) => size !== 1)) return null;
  if (signal.shape.slice(1, -1).some((size) => size !== 1) || (bias && !equalsElementwise(bias, 0))) return null;
  const isPlain = (name: string, value: number): boolean => conv.ints(name)?.every((each) => each === value) ?? true;
  if (conv.int("group", 1) !== 1 || !isPlain("pads", 0) || !isPlain("dilations", 1)) return null;
  if (!["NOTSET", "VALID"].includes(conv.string("auto_pad", "NOTSET"))) return null;
  const step = conv.ints("strides")?.at(-1) ?? 1;
  const data = tensor.toF32();
  return data && { signal, step, length, rows: data };
}

/** What does the same to the same signal, behind it. */
function partnersOf(conv: Node): { readonly node: Node; readonly others: Waves }[] {
  const later = [...conv.graph.nodes()];
  return conv.inputs[0]!.uses.flatMap((use) => {
    const node = use.kind === "input" && use.node.is("Conv") && use.node.graph === conv.graph ? use.node : null;
    const others = node && later.indexOf(node) > later.indexOf(conv) ? wavesOf(node) : null;
    const isLike = others?.rows.length === conv.inputs[1]!.constant!.elementCount && hasSameAttributes(node!, conv);
    return isLike && node!.inputs[0] === conv.inputs[0] ? [{ node: node!, others }] : [];
  });
}

interface Spectrum {
  readonly nodes: LabelledNodes;
  readonly planes: Labelled;
}

function spectrumOf(
  { signal, step, length }: Waves,
  cosines: Float32Array,
  sines: Float32Array,
  context: RewriteContext,
): Spectrum | null {
  const shape = signal.shape!;
  const frames = framesOf(shape.at(-1)!, length, step);
  const bins = cosines.length / length;
  if (!Number.isInteger(bins) || (frames !== null && frames < 1)) return null;
  const framed = { signal, shape, axis: shape.length - 1, frames, step, window: new Float64Array(length), bins };
  const factors = fasterFactors(transformOf(framed), rowsOf(framed), (first) => step % first === 0);
  const rows = factors && trigonometricRows(cosines, sines, length);
  if (!factors || !rows) return null;
  const steps = new StftSteps({ ...framed, window: rows.window }, factors, context);
  const planes = steps.planes(rows.sign);
  return planes && { nodes: steps.nodes, planes };
}

/** Real parts and imaginary ones. */
function partsOf({ nodes, planes }: Spectrum, conv: Node, { create, constant }: RewriteContext): Value[] | null {
  const sizes = constant(`${conv.output.label}/sizes`, Tensor.i64([2], [1, 1]));
  const labels = ["real", "imaginary"].map((part) => `${conv.output.label}/${part}`);
  const types = labels.map(() => ({ dtype: planes.value.dtype, shape: planes.value.shape!.with(1, 1) }));
  const split = create("Split", [planes.value, sizes], { axis: attr.int(1) }, { labels, types });
  const parts = split.outputs.map((value) => inForm(nodes, { value: value!, labels: planes.labels }, ["bin"], conv));
  return parts.every((part) => part !== null) ? parts : null;
}

/** With the axes of what the Conv makes, of which `channels` are the second. */
function inForm(nodes: LabelledNodes, { value, labels }: Labelled, channels: Label[], conv: Node): Value | null {
  const given = labels.map((label) => (label === "part" && channels.length === 1 ? [] : [label]));
  const ones = conv.inputs[0]!.shape!.slice(2, -1).map(() => []);
  return nodes.regroup(value, given, [["batch"], channels, ...ones, ["frame"]]);
}
