/**
 *   Conv<group=C>(x: [N,C,...], W: [m*C,1,...])  =>  Conv<group=m*C>(Concat(x, m times), W by turns)
 *
 * A depthwise Conv that makes m channels of each (FastViT, EEGNet), where a dense Conv reads them in the end, whose weights
 * take the channels in the order in which they come then. ONNX Runtime's CPU has kernels for channels by themselves, and gathers
 * each window of a group of one and m: 49 products of each of [192,8,8] take 71 us as floats and 303 as integers, and 36 and 10 with
 * what is repeated (1.32, Zen 5, 1 thread).
 */
import { attr, type Node, soleReader, type Tensor, taken, type Value } from "../../ir/index.js";
import { isPointwise } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { isQuickDepthwise } from "../../target/channel-block.js";

const MOST_STEPS = 8;
/** Of one weight. */
const MOST_ELEMENTS = 1 << 24;

export const inlineChannelMultiplier = defineRewrite({
  name: "inline-channel-multiplier",
  summary: "Repeat channels of which a Conv makes several each, so that each has a window of its own",
  numerics: "rounding",
  roots: ["Conv"],
  minOpset: 4,
  onlyOnCpu: "its kernel for a Conv in groups gathers each window",
  rewrite(dense, context) {
    const read = dense.int("group", 1) === 1 ? weightOf(dense) : null;
    const chain = read && chainBefore(dense.inputs[0]!, dense);
    if (!chain) return null;
    const { multiplied, steps, channels, times } = chain;
    if (read.dims[1] !== channels * times || read.elementCount > MOST_ELEMENTS) return null;
    // Channel c of each turn, one turn after the other.
    const order = Array.from({ length: channels * times }, (_, i) => (i % channels) * times + Math.floor(i / channels));
    const repeated = repeat(multiplied.inputs[0]!, channels, times, context);
    let value = inOrder(multiplied, repeated, order, 0, context).output;
    for (const step of steps) value = inOrder(step, value, order, 0, context).output;
    return inOrder(dense, value, order, 1, context);
  },
});

interface Chain {
  readonly multiplied: Node;
  /** What comes between, from there on. */
  readonly steps: readonly Node[];
  readonly channels: number;
  readonly times: number;
}

/** Back from a value that one node reads, along what keeps channels apart, to what makes several of each. */
function chainBefore(start: Value, reader: Node): Chain | null {
  const steps: Node[] = [];
  let [value, readBy] = [start, reader];
  while (steps.length <= MOST_STEPS) {
    const node = value.producer;
    if (!node || soleReader(value) !== readBy || node.outputs.length !== 1 || value.dtype !== "f32") return null;
    const weight = weightOf(node);
    const group = node.int("group", 1);
    const isOfEach = weight?.dims[1] === 1 && group > 1 && weight.dims[0]! % group === 0;
    if (isOfEach && weight.dims[0]! > group) {
      const isQuick = isQuickDepthwise(weight.dims[0]!) && weight.dims.length <= 4;
      const times = weight.dims[0]! / group;
      return isQuick ? { multiplied: node, steps: steps.reverse(), channels: group, times } : null;
    }
    if (!isOfEach && !isPointwise(node) && !node.is("AveragePool") && !node.is("MaxPool")) return null;
    steps.push(node);
    [value, readBy] = [node.inputs[0]!, node];
  }
  return null;
}

/** Of a Conv with constants. */
function weightOf(node: Node): Tensor | null {
  const [, weight, bias] = node.inputs;
  const isKnown = node.is("Conv") && weight?.constant?.dtype === "f32" && (!bias || bias.constant);
  return isKnown && weight.constant.dims.length > 2 ? weight.constant : null;
}

function repeat(x: Value, channels: number, times: number, { create }: RewriteContext): Value {
  const shape = x.shape?.map((dim, axis) => (axis === 1 ? channels * times : dim)) ?? null;
  const copies = new Array<Value>(times).fill(x);
  return create("Concat", copies, { axis: attr.int(1) }, { types: [{ dtype: x.dtype, shape }] }).output;
}

/** A node with its channels in another order, along one axis of its weights; each by itself along the first, with the bias. */
function inOrder(node: Node, x: Value, order: readonly number[], axis: 0 | 1, context: RewriteContext): Node {
  const [, weight, bias] = node.inputs;
  const types = [node.output.type];
  if (!node.is("Conv"))
    return context.create(node.op, [x, ...node.inputs.slice(1)], node.attributes, { like: node, types });
  const attributes = new Map(node.attributes);
  if (axis === 0) attributes.set("group", attr.int(order.length));
  const moved = (value: Value): Value => context.constant(`${value.label}/turns`, taken(value.constant!, axis, order));
  const inputs = [x, moved(weight!), bias && axis === 0 ? moved(bias) : (bias ?? null)];
  return context.create("Conv", bias ? inputs : inputs.slice(0, 2), attributes, { like: node, types });
}
