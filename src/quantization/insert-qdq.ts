/**
 * Writes a static plan into the graph as QuantizeLinear/DequantizeLinear pairs:
 *
 *   x -> Q -> DQ -> Conv(DQ(w_i8), DQ(b_i32)) -> [Relu] -> Q -> DQ -> ...
 *
 * Activations are u8, or i8 where the target wants them symmetric; weights i8 per output
 * channel, biases i32 at the product of both scales, or float as the target has it. Only ai.onnx operators are used (opset 13 and later).
 */
import { invariant } from "../base/errors.js";
import { attr, type Graph, type Model, type Node, opsetOf, soleReader, Tensor, type Value } from "../ir/index.js";
import { activationSlots, type IntegerTarget } from "../target/integer-kernel.js";
import { activationsBehindPools } from "./activation-behind-pool.js";
import { biasedProducts } from "./biased-product.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { keepProductsFloat } from "./float-products.js";
import { foldScalings, scaled, scalingIn } from "./fold-scalings.js";
import { weightLayout } from "./inputs/moment-taps.js";
import { type InputMoments, roundInView } from "./inputs/round-in-view.js";
import { KeptIntegers } from "./kept-integers.js";
import { meanConvs } from "./mean-conv.js";
import { lastProducts } from "./outputs/last-products.js";
import { padImage, withZeroChannels } from "./pad-channels.js";
import { fitPairs } from "./pair-sums.js";
import type { StaticPlan } from "./plan-static.js";
import { keepPoolsFloat } from "./pool-in-float.js";
import { poolMeans } from "./pool-means.js";
import { type Repeats, repeatIntegers, repeatsIn } from "./repeated-places.js";
import { resizeAllAxes } from "./resize-axes.js";
import { type ActivationScheme, schemeOf } from "./scheme.js";
import { spreadIntegers } from "./spread-places.js";
import { staticWeight } from "./static-weight.js";
import { type Interleaving, interleave, subPixelConvs } from "./sub-pixel-conv.js";
import { type StoredWeight, WeightStore } from "./weight-store.js";
import { makeRoomForBias, quantizeBias } from "./weights.js";
import { widenChannels } from "./wider-channels.js";

export interface InsertReport {
  /** Nodes that now stand between Q/DQ pairs. */
  readonly quantized: readonly string[];
  /** Things that had to bend, in words: a weight scale raised for a bias. */
  readonly notes: readonly string[];
  /** Where weights are that others may read too. */
  readonly store: WeightStore;
}

/**
 * Values that a plan quantizes: what its nodes read and what stands behind them.
 * These are the tensors whose ranges must be known.
 */
export function activationsOf({ nodes }: Pick<StaticPlan, "nodes">): readonly Value[] {
  const values = new Set<Value>();
  for (const { node, kernel, outputs } of nodes) {
    for (const index of activationSlots(node, kernel)) {
      const value = node.inputs[index];
      if (value && !value.constant) values.add(value);
    }
    for (const output of outputs) values.add(output);
  }
  return [...values];
}

/** `schemes` by value label; every value of `activationsOf(plan)` must have one. `inputs` by value label, where weights are rounded with them in view. `kept` of models with the same weights. */
export function insertQdq(
  model: Model,
  plan: StaticPlan,
  schemes: ReadonlyMap<string, ActivationScheme>,
  target: IntegerTarget,
  inputs: ReadonlyMap<string, InputMoments> = new Map(),
  kept = new KeptIntegers(),
): InsertReport {
  invariant(opsetOf(model) >= 13, "per-channel DequantizeLinear needs opset 13");
  // By the graph as it is: a Conv behind a pair reads no image any more.
  const last = new Set(lastProducts(model).map(({ node }) => node));
  const depths = new Map(plan.nodes.map(({ node }) => [node, depthsOf(node, target)]));
  if (target.isMeasurable) activationsBehindPools(plan);
  const { nodes: pooled, squeezed } = poolMeans(plan.nodes);
  const { nodes: products, matrices } = biasedProducts(pooled, target, plan.keptFloat);
  const { nodes, interleaved } = subPixelConvs(meanConvs(products, target), target, kept);
  const repeats: Repeats = target.isMeasurable ? repeatsIn(nodes) : new Map();
  const aliases = new Map([...squeezed, ...matrices]);
  const writer = new QdqWriter(model.graph, new Map(schemes), target, inputs, kept, interleaved, aliases);
  for (const each of nodes) {
    const { node, kernel, outputs } = each;
    const slots = activationSlots(node, kernel);
    writer.scheme(node.inputs[slots[0]!]!);
    if (kernel.kind === "passthrough") for (const output of outputs) writer.share(node.inputs[0]!, output);
    const scaling = scalingIn(each);
    if (scaling) writer.share(node.inputs[scaling.slot]!, node.output, (scheme) => scaled(scheme, scaling));
    const padded = depths.get(node);
    if (kernel.kind === "compute") writer.weights(node, padded?.depth ?? null);
    for (const index of slots) writer.readQuantized(node, index);
    if (padded) writer.pad(node, padded);
    for (const output of outputs) writer.quantizeBehind(output);
  }
  writer.end();
  repeatIntegers(repeats);
  foldScalings(nodes);
  if (target.isMeasurable) {
    keepProductsFloat(model.graph);
    keepPoolsFloat(writer.quantizers(), target);
    resizeAllAxes(model.graph);
    spreadIntegers(model);
  }
  // Corrections compare what the last products read.
  if (target.times && !target.isForSize) widenChannels(model.graph, target.times, last);
  removeUnreadConstants(model.graph);
  return { quantized: plan.nodes.map(({ node }) => node.name), notes: writer.notes, store: writer.store };
}

interface Depths {
  readonly own: number;
  readonly depth: number;
}

/** Input channels of a Conv that gets more of them; null where it keeps its own. */
function depthsOf(node: Node, { times }: IntegerTarget): Depths | null {
  if (!times || !node.is("Conv")) return null;
  const own = node.inputs[1]!.constant!.dims[1]!;
  const depth = times.paddedDepth(node);
  return depth > own ? { own, depth } : null;
}

class QdqWriter {
  readonly notes: string[] = [];
  /** From a value to what its integers say it is. */
  readonly #dequantized = new Map<Value, Value>();
  readonly #origin = new Map<Value, Value>();
  /** What makes integers of a value. */
  readonly #quantized = new Map<Value, Node>();
  readonly store = new WeightStore();
  /** What Convs read before channels were added. */
  readonly #padded = new Set<Node>();
  /** Weights with several readers, which are rounded once for all of them. */
  readonly #shared: ReadonlySet<Value>;

  constructor(
    readonly graph: Graph,
    readonly schemes: Map<string, ActivationScheme>,
    readonly target: IntegerTarget,
    readonly inputs: ReadonlyMap<string, InputMoments>,
    readonly kept: KeptIntegers,
    readonly interleaved: ReadonlyMap<Value, Interleaving>,
    /** Labels of other values with the same elements, for values that came with the writing. */
    readonly aliases: ReadonlyMap<Value, string>,
  ) {
    this.#shared = new Set(graph.constants.filter(({ useCount }) => useCount > 1));
  }

  /** What makes integers of the values that a pair was written behind. */
  quantizers = (): readonly Node[] => [...this.#quantized.values()].filter(({ attached }) => attached);

  /** By which things are known of a value, or of the one that it is widened from. */
  #labelOf(value: Value): string {
    const own = this.#origin.get(value) ?? value;
    return this.aliases.get(own) ?? own.label;
  }

  scheme(value: Value): ActivationScheme {
    const label = this.#labelOf(value);
    const scheme = this.#given(value) ?? this.schemes.get(label);
    invariant(scheme, `no range is known for ${label}`);
    return scheme;
  }

  /** Of a value that the model has from integers of the wanted type already: a part of it was quantized before. */
  #given(value: Value): ActivationScheme | null {
    const node = value.producer;
    if (!node?.is("DequantizeLinear") || this.#origin.has(value)) return null;
    const [integers, , zeroPoint] = node.inputs;
    return integers?.constant || zeroPoint?.constant?.dtype !== this.target.activations ? null : schemeOf(node);
  }

  /** Makes `to` use the scheme of `from`, or what follows from it: moving or scaling elements must not change integers. */
  share(from: Value, to: Value, as = (scheme: ActivationScheme): ActivationScheme => scheme): void {
    if (!this.aliases.has(to)) this.schemes.set(to.label, as(this.scheme(from)));
  }

  /** Makes one activation input come from integers. */
  readQuantized(node: Node, index: number): void {
    const value = node.inputs[index];
    if (!value || this.#origin.has(value) || this.#given(value)) return; // already behind a pair
    const readable = this.#dequantized.get(value) ?? this.#pair(value, this.#behind(value));
    this.graph.setInput(node, index, readable);
  }

  /** Every reader of a value reads what its integers say: the kernel that makes it ends in integers. */
  quantizeBehind(value: Value): void {
    // What reads it was quantized before, and its pair with it.
    if (soleReader(value)?.is("QuantizeLinear")) return;
    const known = this.#dequantized.get(value);
    const readable = known ?? this.#pair(value, this.#behind(value));
    const quantize = this.#quantized.get(value)!;
    this.graph.replaceUses(value, readable, quantize);
  }

  /** Channels of zeros for what a Conv reads, whose weights have them. */
  pad(node: Node, { own, depth }: Depths): void {
    this.#padded.add(node.inputs[0]!.producer!);
    padImage(this.graph, node, own, depth);
  }

  end(): void {
    for (const dequantize of this.#padded) if (dequantize.output.useCount === 0) this.graph.removeNode(dequantize);
  }

  /** `depth`: input channels to make of its own; null to leave them. */
  weights(node: Node, depth: number | null): void {
    const [, weight, bias] = node.inputs;
    const tensor = weight!.constant!;
    const { dims } = tensor;
    const { weightLimit: limit } = this.target;
    const plain = staticWeight(node, this.target, this.kept);
    const { scales: least, axis, pairs, floats, quantize } = plain;
    let scales = least;
    let form = `axis ${axis}${pairs ? " in pairs" : ""}`;
    let make = (): Tensor => plain.integers;
    const inputScale = this.scheme(node.inputs[0]!).scale;
    let biasValues = this.target.bias === "i32" ? bias?.constant?.f32() : undefined;
    // Nodes that share a weight share its integers, unless a bias raised scales for one of them.
    if (biasValues) {
      const raised = makeRoomForBias(least, biasValues, inputScale, tensor.elementCount / dims[axis]!);
      if (raised.length > 0) {
        form += ` for ${node.name}`;
        make = () => quantize(least).integers;
        this.notes.push(
          `${node.name}: the weight scale of ${raised.length} of ${least.length} channels was raised to fit the bias into 32 bits`,
        );
      }
    }
    const moments = this.#inView(node);
    if (moments) {
      form = `with the inputs of ${node.name}`;
      const hasBias = biasValues !== undefined;
      const layout = weightLayout(node, dims)!;
      const own = JSON.stringify([layout, limit, pairs, hasBias]);
      const rounded = this.kept.rounded(tensor, own, moments, least, () => {
        const { integers, ...rest } = roundInView(
          { weights: floats(), layout, scales: least, limit },
          moments,
          hasBias,
        );
        if (pairs) fitPairs(integers, floats(), rest.scales, { dims, axis });
        return { integers: Tensor.ofArray("i8", dims, integers), ...rest };
      });
      scales = rounded.scales;
      biasValues = biasValues?.map((value, i) => value + rounded.shift![i]!);
      make = () => rounded.integers;
    }
    if (depth !== null) form += ` of ${depth} channels`;
    const stored = this.store.of(weight!, form, () => ({
      integers: depth === null ? make() : withZeroChannels(make(), depth),
      scales: Tensor.f32([scales.length], scales),
    }));
    this.graph.setInput(node, 1, this.#dequantizedConstant(node, weight!, stored, axis));
    if (biasValues) {
      const quantized = quantizeBias(biasValues, inputScale, scales);
      const storedBias = this.store.of(bias!, `for ${node.name}`, () => ({
        integers: quantized.integers,
        scales: Tensor.f32([quantized.scales.length], quantized.scales),
      }));
      this.graph.setInput(node, 2, this.#dequantizedConstant(node, bias!, storedBias, 0));
    }
  }

  /** What is known of the inputs of a product whose weights nobody else reads. */
  #inView(node: Node): InputMoments | null {
    const [input, weight] = node.inputs;
    const moments = this.inputs.get(this.#labelOf(input!));
    if (!moments || this.#shared.has(weight!) || this.target.weightLimit > 127) return null;
    const layout = weightLayout(node, weight!.constant!.dims);
    return layout && moments.spread.length === layout.group * layout.inputs ? moments : null;
  }

  #dequantizedConstant(node: Node, { label }: Value, stored: StoredWeight, axis: number): Value {
    const { integers, scale, zeroPoint } = stored;
    const dequantize = this.graph.addNode(
      {
        op: "DequantizeLinear",
        name: `${node.name}/${label}/DequantizeLinear`,
        inputs: [integers, scale, zeroPoint()],
        attributes: { axis: attr.int(axis) },
        outputs: [{ label: `${label}/dequantized`, type: { dtype: "f32", shape: integers.shape } }],
        provenance: node.provenance,
      },
      node,
    );
    return dequantize.output;
  }

  /** The node that a pair behind `value` is put in front of; graph inputs have no producer, so theirs goes to the front. */
  #behind(value: Value): Node | null {
    return value.producer ? value.producer.next : this.graph.firstNode;
  }

  /** Q and DQ behind a value; returns what the DQ makes. */
  #pair(value: Value, before: Node | null): Value {
    const { scale, zeroPoint } = this.scheme(value);
    const { activations: dtype } = this.target;
    const { graph } = this;
    const { label, shape } = value;
    const parameters = [
      graph.addConstant(`${label}/scale`, Tensor.scalar("f32", scale)),
      graph.addConstant(`${label}/zero_point`, Tensor.ofArray(dtype, [], Uint8Array.of(zeroPoint))),
    ];
    const provenance = value.producer?.provenance ?? [];
    const interleaving = this.interleaved.get(value);
    if (interleaving) value.type = interleaving.places;
    const quantize = graph.addNode(
      {
        op: "QuantizeLinear",
        name: `${label}/QuantizeLinear`,
        inputs: [value, ...parameters],
        outputs: [{ label: `${label}/quantized`, type: { dtype, shape: value.shape } }],
        provenance,
      },
      before,
    );
    const integers = interleaving
      ? interleave(quantize.output, interleaving.form, shape, label, before)
      : quantize.output;
    const dequantize = graph.addNode(
      {
        op: "DequantizeLinear",
        name: `${label}/DequantizeLinear`,
        inputs: [integers, ...parameters],
        outputs: [{ label: `${label}/dequantized`, type: { dtype: "f32", shape } }],
        provenance,
      },
      before,
    );
    this.#quantized.set(value, quantize);
    this.#dequantized.set(value, dequantize.output);
    this.#origin.set(dequantize.output, value);
    return dequantize.output;
  }
}
