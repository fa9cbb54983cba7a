/**
 * The integer kernel of a depthwise Conv multiplies whole vectors of channels, and takes what is left of them one by one: twice
 * as long for 72 channels as for 80. Where the dense Convs around it are few, they make and read as many more channels as
 * fill a vector, whose weights are zeros: what the model computes stays the same, bit by bit.
 */
import { attr, filledUp, type Graph, type Node, type Tensor, taken, type Value } from "../ir/index.js";
import { type ChannelRegion, channelRegionOf, isDepthwise } from "../target/channel-region.js";
import type { KernelTimes } from "../target/kernel-times.js";

/** Once pairs are written. @param kept Convs that read as many channels as they did, whatever it costs */
export function widenChannels(graph: Graph, times: KernelTimes, kept: ReadonlySet<Node>): void {
  const constants = new WiderConstants(graph);
  for (const node of [...graph.nodes()]) {
    if (!isDepthwise(node) || !node.inputs.slice(0, 2).every((value) => value?.producer?.is("DequantizeLinear")))
      continue;
    const channels = times.widened(node);
    const region = channels > node.int("group", 1) ? channelRegionOf(node) : null;
    if (region && ![...region.consumers].some((each) => kept.has(each))) widen(region, channels, constants);
  }
}

function widen(
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
    widenInput(node, index, constant!.dims.indexOf(Math.max(...constant!.dims)), channels, made);
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
function widenInput(node: Node, index: number, axis: number, size: number, made: WiderConstants): void {
  const { graph } = node;
  const value = node.inputs[index]!;
  if (value.constant) return void graph.setInput(node, index, made.of(value, axis, size));
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
class WiderConstants {
  readonly #made = new Map<Value, Map<string, Value>>();

  constructor(readonly graph: Graph) {}

  of(old: Value, axis: number, size: number, isRepeated = false): Value {
    const known = this.#made.get(old) ?? new Map<string, Value>();
    this.#made.set(old, known);
    const key = [axis, size, isRepeated].join();
    const value =
      known.get(key) ?? this.graph.addConstant(`${old.label}/wider`, wider(old.constant!, axis, size, isRepeated));
    known.set(key, value);
    return value;
  }
}

/** @param isRepeated the first of it in place of zeros */
const wider = (tensor: Tensor, axis: number, size: number, isRepeated: boolean): Tensor =>
  taken(tensor, axis, filledUp(tensor.dims[axis]!, size, isRepeated ? 0 : null));
