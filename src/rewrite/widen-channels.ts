/** More channels for a depthwise Conv and all that has its channels: of zeros, which nothing that is computed of the others meets. */
import { attr, filledUp, type Graph, type Node, type Tensor, taken, type Value } from "../ir/index.js";
import type { ChannelRegion } from "../target/channel-region.js";

/** `channels` in place of fewer, in all of a region. */
export function widen(
  { values, depthwise, producers, consumers, constants }: ChannelRegion,
  channels: number,
  made: WiderConstants,
): void {
  for (const node of depthwise) {
    node.graph.setAttribute(node, "group", attr.int(channels));
    makeMore(node, channels, made);
  }
  for (const node of producers) makeMore(node, channels, made);
  for (const node of consumers) widenInput(node, 1, 1, channels, made);
  for (const { node, index } of constants) {
    const { constant } = node.inputs[index]!;
    const axis = constant!.dims.indexOf(Math.max(...constant!.dims));
    // A slope of 0 is one that other forms of the activation do not take.
    widenInput(node, index, axis, channels, made, node.is("PRelu"));
  }
  for (const value of values) {
    const { dtype, shape } = value;
    value.type = { dtype, shape: shape!.map((dim, axis) => (axis === 1 ? channels : dim)) };
  }
}

/** Weights and bias of a Conv that makes more channels. */
function makeMore(node: Node, channels: number, made: WiderConstants): void {
  widenInput(node, 1, 0, channels, made);
  if (node.inputs[2]) widenInput(node, 2, 0, channels, made);
}

/**
 * What an input is, or is widened from, with zeros up to a size of one axis; scales of that axis, with the first again: the
 * runtime takes no bias whose scale is not that of what it is added to.
 */
function widenInput(
  node: Node,
  index: number,
  axis: number,
  size: number,
  made: WiderConstants,
  isRepeated = false,
): void {
  const { graph } = node;
  const value = node.inputs[index]!;
  if (value.constant) return void graph.setInput(node, index, made.of(value, axis, size, isRepeated));
  const dequantize = value.producer!;
  const [integers, scale, zeroPoint] = dequantize.inputs;
  const isOfAxis = dequantize.int("axis", 1) === axis && scale!.constant!.dims.length > 0;
  graph.setInput(dequantize, 0, made.of(integers!, axis, size));
  if (isOfAxis) {
    graph.setInput(dequantize, 1, made.of(scale!, 0, size, true));
    if (zeroPoint) graph.setInput(dequantize, 2, made.of(zeroPoint, 0, size));
  }
  value.type = { dtype: value.dtype, shape: dequantize.inputs[0]!.shape };
}

/** Each constant that is made wider once for all that read it. */
export class WiderConstants {
  readonly #made = new Map<Value, Map<string, Value>>();

  /** `store`: for tensors that may be large. */
  constructor(
    readonly graph: Graph,
    readonly store = (tensor: Tensor): Tensor => tensor,
  ) {}

  of(old: Value, axis: number, size: number, isRepeated = false): Value {
    const known = this.#made.get(old) ?? new Map<string, Value>();
    this.#made.set(old, known);
    const key = [axis, size, isRepeated].join();
    let value = known.get(key);
    if (!value) {
      const tensor = this.store(wider(old.constant!, axis, size, isRepeated));
      value = this.graph.addConstant(`${old.label}/wider`, tensor);
      known.set(key, value);
    }
    return value;
  }
}

/** @param isRepeated the first of it in place of zeros */
const wider = (tensor: Tensor, axis: number, size: number, isRepeated: boolean): Tensor =>
  taken(tensor, axis, filledUp(tensor.dims[axis]!, size, isRepeated ? 0 : null));
