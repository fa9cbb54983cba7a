/** Values whose channels are those of a depthwise Conv, up to the dense Convs around: where all of them can get more channels. */
import { fromFront, type Node, type Tensor, type Value } from "../ir/index.js";

export interface ChannelRegion {
  readonly channels: number;
  readonly values: ReadonlySet<Value>;
  /** Convs of each channel by itself. */
  readonly depthwise: ReadonlySet<Node>;
  /** Dense Convs that make such channels, and that read them: some may do both. */
  readonly producers: ReadonlySet<Node>;
  readonly consumers: ReadonlySet<Node>;
  /** Nodes that compute each element by itself. */
  readonly elementwise: ReadonlySet<Node>;
  /** Pools and means of planes. */
  readonly pools: ReadonlySet<Node>;
  /** Constants of one number for each channel, by the places that read them. */
  readonly constants: readonly { readonly node: Node; readonly index: number }[];
}

/** A Conv of each channel by itself; its weights may be integers that a DequantizeLinear widens. */
export function isDepthwise(node: Node): boolean {
  const dims = node.is("Conv") ? weightOf(node)?.dims : null;
  const group = node.int("group", 1);
  return !!dims && dims.length > 2 && group > 1 && group === dims[0] && dims[1] === 1;
}

/** What a Conv multiplies by: floats, or the integers that they come from; null for what is computed, or stored in another way. */
export function weightOf(node: Node): Tensor | null {
  const weight = node.inputs[1];
  if (!weight || weight.constant) return weight?.constant ?? null;
  const { producer, useCount } = weight;
  // Another reader has its channels elsewhere.
  if (useCount > 1) return null;
  if (!producer?.is("DequantizeLinear") || producer.int("block_size", 0) !== 0 || producer.int("axis", 1) !== 0)
    return null;
  const [integers, scale, zeroPoint] = producer.inputs.map((value) => value?.constant);
  const isSymmetric = !producer.inputs[2] || zeroPoint?.integers()?.every((point) => point === 0);
  return integers?.dtype === "i8" && scale && isSymmetric ? integers : null;
}

/** Larger ones are not looked through. */
const MOST_VALUES = 200;

/** The region of a depthwise Conv; null where its channels reach what has to have as many as it has. */
export function channelRegionOf(start: Node): ChannelRegion | null {
  return isDepthwise(start) ? new Search(start).run() : null;
}

/** Each element by itself: a channel that is repeated stays that. What they take, the caller knows. */
const unary = /^(Clip|DequantizeLinear|HardSigmoid|HardSwish|LeakyRelu|QuantizeLinear|Relu|Sigmoid|Tanh)$/;
const binary = /^(Add|Max|Min|Mul|PRelu|Sub)$/;
const pooling = /^(AveragePool|GlobalAveragePool|MaxPool)$/;

class Search {
  readonly #channels: number;
  readonly #values = new Set<Value>();
  readonly #depthwise = new Set<Node>();
  readonly #producers = new Set<Node>();
  readonly #consumers = new Set<Node>();
  readonly #elementwise = new Set<Node>();
  readonly #pools = new Set<Node>();
  readonly #constants: { node: Node; index: number }[] = [];
  readonly #waiting: Value[] = [];

  constructor(readonly start: Node) {
    this.#channels = start.int("group", 1);
  }

  run(): ChannelRegion | null {
    if (!this.#inside(this.start)) return null;
    for (let value = this.#waiting.pop(); value; value = this.#waiting.pop()) {
      if (this.#values.size > MOST_VALUES || !this.#around(value)) return null;
    }
    return {
      channels: this.#channels,
      values: this.#values,
      depthwise: this.#depthwise,
      producers: this.#producers,
      consumers: this.#consumers,
      elementwise: this.#elementwise,
      pools: this.#pools,
      constants: this.#constants,
    };
  }

  /** What makes a value and what reads it; false where one of them cannot do with more channels. */
  #around(value: Value): boolean {
    const { producer, uses, graph } = value;
    if (!producer || producer.graph !== graph || producer.outputs[0] !== value) return false;
    if (isDense(producer)) this.#producers.add(producer);
    else if (!this.#inside(producer)) return false;
    return uses.every((use) => {
      if (use.kind !== "input" || use.node.graph !== graph) return false;
      if (!isDense(use.node)) return this.#inside(use.node);
      this.#consumers.add(use.node);
      return use.index === 0;
    });
  }

  /** Takes a node in whose channels are those of what it reads. */
  #inside(node: Node): boolean {
    if (this.#depthwise.has(node) || this.#elementwise.has(node) || this.#pools.has(node)) return true;
    const made = node.outputs.filter((value) => value !== null);
    if (node.domain !== "" || made.length !== 1 || made[0] !== node.outputs[0]) return false;
    if (isDepthwise(node) && isComputedBias(node.inputs[2])) return false;
    const isPool = pooling.test(node.op) || isChannelMean(node);
    if (isDepthwise(node)) this.#depthwise.add(node);
    else if (unary.test(node.op) || binary.test(node.op)) this.#elementwise.add(node);
    else if (isPool) this.#pools.add(node);
    else return false;
    const first = isDepthwise(node) || isPool || unary.test(node.op);
    return this.#add(node.output) && node.inputs.every((value, index) => this.#reads(node, index, value, first));
  }

  #reads(node: Node, index: number, value: Value | null, isFirstAlone: boolean): boolean {
    if (isFirstAlone && index > 0) {
      // Weights are seen to; of anything else, one number is the same for all channels, as the bounds of a Clip are.
      if (!value || isDepthwise(node) || node.is("ReduceMean") || node.is("Clip")) return true;
      return value.constant?.elementCount === 1;
    }
    if (!value) return false;
    const { constant } = value;
    if (!constant) return this.#add(value);
    if (constant.elementCount === 1) return true;
    const axis = constant.dims.length - node.output.shape!.length + 1;
    const isChannels = axis >= 0 && constant.dims.every((dim, at) => dim === (at === axis ? this.#channels : 1));
    if (isChannels) this.#constants.push({ node, index });
    return isChannels;
  }

  #add(value: Value): boolean {
    if (this.#values.has(value)) return true;
    // Of another rank, its channels may lie along another axis of what is computed of it.
    if (value.shape?.[1] !== this.#channels || value.shape.length !== this.start.output.shape?.length) return false;
    this.#values.add(value);
    this.#waiting.push(value);
    return true;
  }
}

function isDense(node: Node): boolean {
  const dims = weightOf(node)?.dims;
  return node.is("Conv") && !!dims && dims.length > 2 && node.int("group", 1) === 1 && !isComputedBias(node.inputs[2]);
}

/** At run time, or widened for others, too. */
const isComputedBias = (bias: Value | null | undefined): boolean =>
  !!bias &&
  !bias.constant &&
  !(bias.useCount === 1 && bias.producer?.is("DequantizeLinear") && bias.producer.inputs[0]?.constant);

function isChannelMean(node: Node): boolean {
  const axes = node.is("ReduceMean") ? (node.inputs[1]?.constant?.integers() ?? node.ints("axes")) : null;
  const rank = node.inputs[0]?.shape?.length ?? 0;
  return node.int("keepdims", 1) !== 0 && !!axes?.every((axis) => fromFront(axis, rank) > 1);
}
