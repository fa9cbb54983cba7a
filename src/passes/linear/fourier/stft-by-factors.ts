/**
 * An STFT in two steps, for a window of first * second samples whose frames are a multiple of `first` apart:
 *
 *   x as [b,blocks,first], transposed  =>  Conv<group=first>: [b, first * 2 * second, frames], all that has k2 in common
 *                                      =>  MatMul(a transform of `first`: [2 * k1, first * 2], [b, first * 2, second * frames])
 *
 * Sample n1 + first * n2 stands in channel n1, so that one window of `second` blocks is a frame; what each channel is turned by, exp(-2 pi
 * i n1 k2 / n), and the window stand in the weights of the Conv. The result has bins second * k1 + k2 in their order, as planes.
 */
import { attr, type Dim, Tensor, type Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";
import { isKnown } from "../../../rewrite/match.js";
import { type Groups, LabelledNodes, single } from "../labelled.js";
import { firstOf } from "./first-of.js";
import { type FramedSignal, transformOf } from "./framed-signal.js";
import { type Factors, transformMatrix } from "./transform.js";

/** null where a size would have to be computed that is not. */
export function stftByFactors(framed: FramedSignal, factors: Factors, context: RewriteContext): Value | null {
  const { signal, rank, batch, samples, frames, step, bins } = framed;
  const { first, second } = factors;
  const turns = Math.ceil(bins / second);
  const known = new Map<string, Dim>([
    ["batch", batch],
    ["block", isKnown(samples) ? Math.floor(samples / first) : null],
    ["n1", first],
    ["n2", second],
    ["k1", turns],
    ["k2", second],
    ["part", 2],
    ["bin", bins],
    ["frame", frames],
  ]);
  const nodes = new LabelledNodes(context, { known, unsure: new Set() });
  const { create, constant } = context;
  const given: Groups = [["batch"], ["block", "n1"], ...(rank === 3 ? [[]] : [])];
  const blocks = nodes.regroup(inBlocks(framed, first, context), given, single(["batch", "block", "n1"]));
  if (!blocks) return null;
  const channels = nodes.transpose({ value: blocks, labels: ["batch", "block", "n1"] }, ["batch", "n1", "block"]).value;
  const attributes = {
    group: attr.int(first),
    kernel_shape: attr.ints([second]),
    strides: attr.ints([step / first]),
  };
  const weight = constant(`${signal.label}/windows`, channelWeights(framed, factors, nodes));
  const types = [{ dtype: "f32", shape: [batch, 2 * first * second, frames] }] as const;
  const turned = create("Conv", [channels, weight], attributes, { types }).output;
  const rows: Groups = [["batch"], ["n1", "part"], ["k2", "frame"]];
  const sums = nodes.regroup(turned, [["batch"], ["n1", "part", "k2"], ["frame"]], rows);
  if (!sums) return null;
  const sides = { from: { parts: 2, places: first }, to: { parts: 2, places: turns } } as const;
  const circle = transformMatrix({ length: first, inverse: false, ...sides });
  const matrix = constant(`${signal.label}/circle`, Tensor.f32([2 * turns, 2 * first], circle));
  const made: Groups = [["batch"], ["part", "k1"], ["k2", "frame"]];
  const planes = nodes.regroup(nodes.matMul(matrix, sums, made), made, [["batch"], ["part"], ["k1", "k2"], ["frame"]]);
  if (!planes) return null;
  const labels = ["batch", "part", "bin", "frame"];
  const value = turns * second === bins ? planes : firstOf(planes, [batch, 2, bins, frames], 2, context);
  return nodes.transpose({ value, labels }, ["batch", "frame", "bin", "part"]).value;
}

/** The signal without the samples behind the last block: no frame has any of them. */
function inBlocks({ signal, rank, batch, samples }: FramedSignal, first: number, context: RewriteContext): Value {
  if (isKnown(samples)) {
    const whole = samples - (samples % first);
    return whole === samples ? signal : firstOf(signal, [batch, whole, 1].slice(0, rank), 1, context);
  }
  const { create, constant } = context;
  const integer = (name: string, value: number): Value => constant(`${signal.label}/${name}`, Tensor.i64([1], [value]));
  const size = create("Shape", [signal], { start: attr.int(1), end: attr.int(2) }).output;
  const block = integer("block", first);
  const whole = create("Mul", [create("Div", [size, block]).output, block]).output;
  const types = [{ dtype: signal.dtype, shape: [batch, null, 1].slice(0, rank) }];
  return create("Slice", [signal, integer("start", 0), whole, integer("axis", 1)], {}, { types }).output;
}

/** [n1 * part * k2, 1, n2]: what each sample of a channel adds to the sums of its k2. */
function channelWeights(framed: FramedSignal, { first, second }: Factors, nodes: LabelledNodes): Tensor {
  const { window } = framed;
  const matrix = transformMatrix({ ...transformOf(framed), to: { parts: 2, places: second } });
  const weights = matrix.map((weight, i) => weight * window[i % window.length]!);
  const ofChannels = nodes.weights(weights, ["part", "k2", "n2", "n1"], ["n1", "part", "k2", "n2"]);
  return ofChannels.withDims([2 * first * second, 1, second]);
}
