/**
 * More channels for a depthwise Conv and all that has its channels: the first of them again, which dense Convs behind multiply by zero.
 * Of zeros, an infinity in front would make NaN, which stays where an activation bounds the others.
 */
import { attr, filledUp, type Graph, type Node, type Tensor, taken, type Value } from "../ir/index.js";
import type { ChannelRegion } from "../target/channel-region.js";

/** `channels` in place of fewer, in all of a region. */
export function widenRegion(
  { values, depthwise, producers, consumers, constants }: ChannelRegion,
  channels: number,
  made: WiderConstants,
): void {
  for (const node of depthwise) {
    node.graph.setAttribute(node, "group", attr.int(channels));
    makeMore(node, channels, made);
  }
  for (const node of producers) makeMore(node, channels, made);
  for (const node of consumers) widenInput(node, 1, 1, channels, made, null);
  for (const { node, index } of constants) {
    const { constant } = node.inputs[index]!;
    const axis = constant!.dims.indexOf(Math.max(...constant!.dims));
    widenInput(node, index, axis, channels, made, 0);
  }
  for (const value of values) {
    const { dtype, shape } = value;
    value.type = { dtype, shape: shape!.map((dim, axis) => (axis === 1 ? channels : dim)) };
  }
}

/** Weights and bias of a Conv that makes more channels. */
function makeMore(node: Node, channels: number, made: WiderConstants): void {
  widenInput(node, 1, 0, channels, made, 0);
  if (node.inputs[2]) widenInput(node, 2, 0, channels, made, 0);
}

/**
 * What an input is, or is widened from, up to a size of one axis. Scales of that axis are filled up with the first: the runtime takes
 * no bias whose scale is not that of what it is added to.
 *
 * @param fill the position that is repeated; null for zeros
 */
function widenInput(node: Node, index: number, axis: number, size: number, made: WiderConstants, fill: 0 | null): void {
  const { graph } = node;
  const value = node.inputs[index]!;
  if (value.constant) return void graph.setInput(node, index, made.of(value, axis, size, fill));
  const dequantize = value.producer!;
  const [integers, scale, zeroPoint] = dequantize.inputs;
  const isOfAxis = dequantize.int("axis", 1) === axis && scale!.constant!.dims.length > 0;
  graph.setInput(dequantize, 0, made.of(integers!, axis, size, fill));
  if (isOfAxis) {
    graph.setInput(dequantize, 1, made.of(scale!, 0, size, 0));
    if (zeroPoint) graph.setInput(dequantize, 2, made.of(zeroPoint, 0, size, 0));
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

  of(old: Value, axis: number, size: number, fill: 0 | null): Value {
    const known = this.#made.get(old) ?? new Map<string, Value>();
    this.#made.set(old, known);
    const key = [axis, size, fill].join();
    let value = known.get(key);
    if (!value) {
      const tensor = this.store(wider(old.constant!, axis, size, fill));
      value = this.graph.addConstant(`${old.label}/wider`, tensor);
      known.set(key, value);
    }
    return value;
  }
}

const wider = (tensor: Tensor, axis: number, size: number, fill: 0 | null): Tensor =>
  taken(tensor, axis, filledUp(tensor.dims[axis]!, size, fill));
