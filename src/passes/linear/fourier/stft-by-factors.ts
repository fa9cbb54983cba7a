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
import { isNeverEmpty } from "../../layout/never-empty.js";
import { type Groups, type Labelled, LabelledNodes, single } from "../labelled.js";
import { firstOf } from "./first-of.js";
import { type FramedSignal, transformOf } from "./framed-signal.js";
import { transformMatrix } from "./transform.js";
import type { Factors } from "./transform-cost.js";

export class StftSteps {
  readonly nodes: LabelledNodes;
  /** How many k1 there are. */
  readonly #turns: number;

  constructor(
    readonly framed: FramedSignal,
    readonly factors: Factors,
    readonly context: RewriteContext,
  ) {
    const { shape, axis, frames, bins } = framed;
    const { first, second } = factors;
    const [batch, samples] = [shape[0]!, shape[axis]!];
    this.#turns = Math.ceil(bins / second);
    const known = new Map<string, Dim>([
      ["batch", batch],
      ["block", isKnown(samples) ? Math.floor(samples / first) : null],
      ["frame", frames],
      ...Object.entries({ n1: first, n2: second, k1: this.#turns, k2: second, part: 2, bin: bins }),
    ]);
    this.nodes = new LabelledNodes(context, { known, unsure: new Set(), never0: new Set(["batch"]) });
  }

  /** [batch, part, bin, frame], imaginary parts times `sign`; null where a size would have to be computed that is not known. */
  planes(sign: 1 | -1 = 1): Labelled | null {
    const { signal, bins, frames, shape } = this.framed;
    const { first, second } = this.factors;
    const { constant } = this.context;
    // The runtime multiplies no matrices by one that stands on the left.
    const turned = isNeverEmpty(shape[0]!, 0, this.context) ? this.#turned() : null;
    const rows: Groups = [["batch"], ["n1", "part"], ["k2", "frame"]];
    const sums = turned && this.nodes.regroup(turned, [["batch"], ["n1", "part", "k2"], ["frame"]], rows);
    if (!sums) return null;
    const sides = { from: { parts: 2, places: first }, to: { parts: 2, places: this.#turns } } as const;
    const circle = transformMatrix({ length: first, inverse: false, ...sides });
    const signed = circle.map((weight, i) => (i < circle.length / 2 ? weight : sign * weight));
    const matrix = constant(`${signal.label}/circle`, Tensor.f32([2 * this.#turns, 2 * first], signed));
    const made: Groups = [["batch"], ["part", "k1"], ["k2", "frame"]];
    const product = this.nodes.matMul(matrix, sums, made);
    const planes = this.nodes.regroup(product, made, [["batch"], ["part"], ["k1", "k2"], ["frame"]]);
    if (!planes) return null;
    const isWhole = this.#turns * second === bins;
    const value = isWhole ? planes : firstOf(planes, [shape[0]!, 2, bins, frames], 2, this.context);
    return { value, labels: ["batch", "part", "bin", "frame"] };
  }

  /** [batch, n1 * part * k2, frame]: the first step. */
  #turned(): Value | null {
    const { signal, step, frames, shape, axis } = this.framed;
    const { first, second } = this.factors;
    const given = shape.map((_, at) => (at === 0 ? ["batch"] : at === axis ? ["block", "n1"] : []));
    const labels = ["batch", "block", "n1"];
    const blocks = this.nodes.regroup(this.#inBlocks(), given, single(labels));
    if (!blocks) return null;
    const channels = this.nodes.transpose({ value: blocks, labels }, ["batch", "n1", "block"]).value;
    const attributes = {
      group: attr.int(first),
      kernel_shape: attr.ints([second]),
      strides: attr.ints([step / first]),
    };
    const weight = this.context.constant(`${signal.label}/windows`, this.#channelWeights());
    const types = [{ dtype: "f32", shape: [shape[0]!, 2 * first * second, frames] }] as const;
    return this.context.create("Conv", [channels, weight], attributes, { types }).output;
  }

  /** The signal without the samples behind the last block: no frame has any of them. */
  #inBlocks(): Value {
    const { signal, shape, axis } = this.framed;
    const { first } = this.factors;
    const samples = shape[axis]!;
    if (isKnown(samples)) {
      const whole = samples - (samples % first);
      return whole === samples ? signal : firstOf(signal, shape.with(axis, whole), axis, this.context);
    }
    const { create, constant } = this.context;
    const integer = (name: string, value: number): Value =>
      constant(`${signal.label}/${name}`, Tensor.i64([1], [value]));
    const size = create("Shape", [signal], { start: attr.int(axis), end: attr.int(axis + 1) }).output;
    const block = integer("block", first);
    const whole = create("Mul", [create("Div", [size, block]).output, block]).output;
    const types = [{ dtype: signal.dtype, shape: shape.with(axis, null) }];
    return create("Slice", [signal, integer("start", 0), whole, integer("axis", axis)], {}, { types }).output;
  }

  /** [n1 * part * k2, 1, n2]: what each sample of a channel adds to the sums of its k2. */
  #channelWeights(): Tensor {
    const { window } = this.framed;
    const { first, second } = this.factors;
    const matrix = transformMatrix({ ...transformOf(this.framed), to: { parts: 2, places: second } });
    const weights = matrix.map((weight, i) => weight * window[i % window.length]!);
    const ofChannels = this.nodes.weights(weights, ["part", "k2", "n2", "n1"], ["n1", "part", "k2", "n2"]);
    return ofChannels.withDims([2 * first * second, 1, second]);
  }
}
