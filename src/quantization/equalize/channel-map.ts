/**
 * Which channels of a float graph can be scaled together without changing what the graph
 * computes: multiply what makes channel c by s > 0, divide the weights that read it, and
 * let through all that is positively homogeneous in between.
 *
 *   Conv(x, W, b) -> Relu -> Conv(., V)   =   Conv(x, s W, s b) -> Relu -> Conv(., V / s)
 *
 * A value's channels are numbered; numbers that must be scaled alike (both sides of an Add,
 * before and after a pooling) are joined, and those that leave the graph or enter an
 * operator that minds the scale are fixed.
 */
import { DisjointSets } from "../../base/disjoint-sets.js";
import { elementCount, type Graph, isStatic, type Node, type Tensor, type Value } from "../../ir/index.js";
import { channelAxis } from "../gemm.js";

/** The numbers of a value's channels, which lie along one of its axes. */
export interface ChannelsOf {
  readonly axis: number;
  readonly ids: readonly number[];
}

/** A constant input whose elements belong to channels: `axis` runs over the channels of `value`. */
export interface ScaledConstant {
  readonly node: Node;
  readonly input: number;
  readonly value: Value;
  readonly axis: number;
}

export interface ChannelMap {
  readonly channels: ReadonlyMap<Value, ChannelsOf>;
  /** Weights and biases that make channels: to be multiplied. */
  readonly makers: readonly ScaledConstant[];
  /** Nodes whose weights read channels: to be divided. */
  readonly readers: readonly Node[];
  /** The set that a channel belongs to. */
  setOf(id: number): number;
  isFixed(id: number): boolean;
}

/** f(s x) = s f(x) for s > 0, element by element or over places of one channel. */
const elementwise = new Set(["Relu", "LeakyRelu", "PRelu", "Identity", "Abs"]);
const pooling = new Set(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"]);

export function mapChannels(graph: Graph): ChannelMap {
  const mapper = new Mapper(graph);
  for (const node of graph.nodes()) mapper.visit(node);
  return mapper.finish();
}

class Mapper implements ChannelMap {
  readonly channels = new Map<Value, ChannelsOf>();
  readonly makers: ScaledConstant[] = [];
  readonly readers: Node[] = [];
  readonly #sets = new DisjointSets();
  readonly #fixedIds: number[] = [];
  #fixed: ReadonlySet<number> = new Set();

  constructor(readonly graph: Graph) {}

  setOf(id: number): number {
    return this.#sets.find(id);
  }

  isFixed(id: number): boolean {
    return this.#fixed.has(this.setOf(id));
  }

  finish(): ChannelMap {
    for (const value of this.channels.keys()) {
      const isInnerUse = value.uses.some((use) => use.kind === "output" || use.node.graph !== this.graph);
      if (isInnerUse) this.#fix(value);
    }
    this.#fixed = new Set(this.#fixedIds.map((id) => this.setOf(id)));
    return this;
  }

  visit(node: Node): void {
    if (node.domain !== "" || node.outputs.slice(1).some((value) => value && value.useCount > 0)) {
      this.#fixInputs(node);
    } else if (!this.#scaled(node)) this.#fixInputs(node);
  }

  /** False when nothing is known of the node: what it reads is fixed. */
  #scaled(node: Node): boolean {
    switch (node.op) {
      case "Conv":
      case "Gemm":
      case "MatMul":
        return this.#product(node);
      case "LayerNormalization":
        return this.#normalization(node);
      case "Add":
      case "Sub":
        return this.#sum(node);
      case "Mul":
        return this.#gated(node);
      case "Concat":
        return this.#joined(node);
      case "Flatten":
        return this.#flattened(node);
      default:
        return this.#homogeneous(node);
    }
  }

  #product(node: Node): boolean {
    const weight = ownConstant(node, 1);
    const layout = weight && channelAxes(node, weight);
    if (!layout) return false;
    const { readAxis, outAxis, outChannels, bias } = layout;
    const read = this.channels.get(node.inputs[0]!);
    if (read) {
      if (read.axis === readAxis) this.readers.push(node);
      else this.#fix(node.inputs[0]!);
    }
    if (bias === "unknown") {
      // Added as it is to what would be scaled.
      this.#fix(node.inputs[2]!);
      return true;
    }
    this.#number(node.output, outAxis, outChannels);
    this.makers.push({ node, input: 1, value: node.output, axis: layout.weightAxis });
    if (bias === "row") this.makers.push({ node, input: 2, value: node.output, axis: biasAxis(node) });
    return true;
  }

  #normalization(node: Node): boolean {
    const rank = node.inputs[0]?.shape?.length;
    const axis = node.int("axis", -1);
    const scale = ownConstant(node, 1);
    const shift = node.inputs[2] ? ownConstant(node, 2) : null;
    if (!rank || !scale || scale.dims.length !== 1 || (axis !== -1 && axis !== rank - 1)) return false;
    if (node.inputs[2] && shift?.elementCount !== scale.elementCount) return false;
    this.#fixInputs(node);
    this.#number(node.output, rank - 1, scale.elementCount);
    this.makers.push({ node, input: 1, value: node.output, axis: 0 });
    if (shift) this.makers.push({ node, input: 2, value: node.output, axis: shift.dims.length - 1 });
    return true;
  }

  #sum(node: Node): boolean {
    const [a, b] = node.inputs;
    if (!a || !b) return false;
    const [one, other] = [this.channels.get(a), this.channels.get(b)];
    if (one && other) {
      if (one.axis !== other.axis || one.ids.length !== other.ids.length) return false;
      if (a.shape === null || a.shape.length !== b.shape?.length) return false;
      one.ids.forEach((id, i) => void this.#sets.join(id, other.ids[i]!));
      this.channels.set(node.output, one);
      return true;
    }
    // A bias of its own: scaled with what it is added to.
    const [channels, value, index] = one ? [one, a, 1] : [other, b, 0];
    const constant = ownConstant(node, index);
    const rank = value.shape?.length;
    if (!channels || !constant || rank === undefined || constant.dims.length > rank) return false;
    const axis = channels.axis - (rank - constant.dims.length);
    if (constant.elementCount !== channels.ids.length || constant.dims[axis] !== channels.ids.length) return false;
    this.channels.set(node.output, channels);
    this.makers.push({ node, input: index, value: node.output, axis });
    return true;
  }

  /** x * g with one g for all places of a channel: x may be scaled, g may not. */
  #gated(node: Node): boolean {
    const [a, b] = node.inputs;
    if (!a || !b || a === b) return false;
    const [x, gate] = isOnePlace(b) ? [a, b] : [b, a];
    const channels = this.channels.get(x);
    if (channels?.axis !== 1 || !isOnePlace(gate) || isOnePlace(x)) return false;
    if (x.shape?.length !== gate.shape?.length) return false;
    // A gate of more channels than it opens makes as many of them.
    const count = channels.ids.length;
    if (node.output.shape?.[1] !== count || (gate.shape![1] !== 1 && gate.shape![1] !== count)) return false;
    this.#fix(gate);
    this.channels.set(node.output, channels);
    return true;
  }

  #joined(node: Node): boolean {
    const parts = node.inputs.map((value) => value && this.channels.get(value));
    const rank = node.output.shape?.length;
    const [first] = parts;
    if (!first || rank === undefined) return false;
    const given = node.int("axis", 0);
    const axis = given < 0 ? given + rank : given;
    if (!parts.every((part) => part && part.axis === first.axis)) return false;
    const known = parts.map((part) => part!);
    if (axis === first.axis) {
      this.channels.set(node.output, { axis, ids: known.flatMap(({ ids }) => ids) });
      return true;
    }
    if (!known.every(({ ids }) => ids.length === first.ids.length)) return false;
    for (const { ids } of known) ids.forEach((id, i) => void this.#sets.join(first.ids[i]!, id));
    this.channels.set(node.output, first);
    return true;
  }

  /** [N, C, H, W] -> [N, C H W]: each channel becomes H W of them. */
  #flattened(node: Node): boolean {
    const [value] = node.inputs;
    const channels = value && this.channels.get(value);
    const places = value?.shape?.slice(2);
    if (channels?.axis !== 1 || !places || !isStatic(places) || node.int("axis", 1) !== 1) return false;
    const times = elementCount(places);
    this.channels.set(node.output, { axis: 1, ids: channels.ids.flatMap((id) => new Array<number>(times).fill(id)) });
    return true;
  }

  #homogeneous(node: Node): boolean {
    const channels = node.inputs[0] && this.channels.get(node.inputs[0]);
    if (!channels) return false;
    if (pooling.has(node.op) ? channels.axis !== 1 : !elementwise.has(node.op)) return false;
    if (node.op === "PRelu" && !node.inputs[1]?.constant) return false;
    this.channels.set(node.output, channels);
    return true;
  }

  #number(value: Value, axis: number, count: number): void {
    const first = this.#sets.add(count);
    this.channels.set(value, { axis, ids: Array.from({ length: count }, (_, i) => first + i) });
  }

  #fix(value: Value): void {
    this.#fixedIds.push(...(this.channels.get(value)?.ids ?? []));
  }

  #fixInputs(node: Node): void {
    for (const value of node.inputs) if (value) this.#fix(value);
  }
}

/** A float constant that only this node reads. */
function ownConstant(node: Node, input: number) {
  const value = node.inputs[input];
  return value?.constant?.dtype === "f32" && value.useCount === 1 ? value.constant : null;
}

const isOnePlace = ({ shape }: Value): boolean =>
  !!shape && shape.length > 2 && shape.slice(2).every((dim) => dim === 1);

const biasAxis = (node: Node): number => node.inputs[2]!.constant!.dims.length - 1;

interface ChannelAxes {
  /** Axis of the input that the weights contract, and of the result that they make. */
  readonly readAxis: number;
  readonly outAxis: number;
  readonly outChannels: number;
  /** Axis of the weights that makes channels. */
  readonly weightAxis: number;
  readonly bias: "none" | "row" | "unknown";
}

function channelAxes(node: Node, { dims }: Tensor): ChannelAxes | null {
  const rank = node.inputs[0]?.shape?.length;
  if (node.op === "Conv") {
    return { readAxis: 1, outAxis: 1, outChannels: dims[0]!, weightAxis: 0, bias: biasOf(node, dims[0]!) };
  }
  if (dims.length !== 2) return null;
  if (node.op === "MatMul") {
    if (rank === undefined || rank < 2) return null;
    return { readAxis: rank - 1, outAxis: rank - 1, outChannels: dims[1]!, weightAxis: 1, bias: "none" };
  }
  if (node.int("transA", 0) !== 0) return null;
  const weightAxis = channelAxis(node);
  return { readAxis: 1, outAxis: 1, outChannels: dims[weightAxis]!, weightAxis, bias: biasOf(node, dims[weightAxis]!) };
}

function biasOf(node: Node, channels: number): ChannelAxes["bias"] {
  if (!node.inputs[2]) return "none";
  const bias = ownConstant(node, 2);
  return bias && bias.elementCount === channels && (bias.dims.at(-1) ?? 1) === channels ? "row" : "unknown";
}

/** Axis of a product's weights that its input's channels run along; a grouped Conv has them by group. */
export const readingAxis = (node: Node): number => (channelAxis(node) === 0 ? 1 : 0);
